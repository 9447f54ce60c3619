"""A document session over a worker that a document kills: the agent's call fails, the episode goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tradeschool.envs.base import SessionConfig
from tradeschool.envs.docqa.client import WORKER_FOLDER
from tradeschool.envs.docqa.session import DocQASession
from tradeschool.errors import SandboxError
from tradeschool.task import TaskPack

TRAPS = """

class Trap(Worker):
    def tables(self, file, page):
        if file == "dies.txt":
            os.kill(os.getpid(), 9)
        if file == "stalls.txt":
            import threading

            threading.Event().wait()
        if file == "eats.txt":
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
            return bytes(1 << 30)
        return super().tables(file, page)


Worker = Trap
main()
"""


@pytest.fixture
def session(plain: ModuleType, tmp_path: Path) -> Iterator[DocQASession]:
    """Opened by hand over a real worker of our own whose `tables` dies, stalls or runs out of memory."""
    worker, documents = tmp_path / "worker", tmp_path / "documents"
    worker.mkdir()
    documents.mkdir()
    for path in WORKER_FOLDER.glob("*.py"):
        text = path.read_text("utf-8")
        if path.name == "main.py":
            text = text.partition('if __name__ == "__main__"')[0] + TRAPS
        (worker / path.name).write_text(text, "utf-8")
    for name in ("dies", "stalls", "eats", "fine"):
        (documents / f"{name}.txt").write_text("a word")
    task = TaskPack.load("starter").get("docqa-units")
    made = DocQASession(SessionConfig(task, "namespace", 0))
    made.library = plain.plain_library(documents, timeout_s=5.0, worker=worker)
    assert made.library is not None
    made.library.open(sorted(path.name for path in documents.iterdir()))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("name", "says"), [("dies", "stopped the parser"), ("stalls", "took longer than 5 s"), ("eats", "too much for")]
)
def test_a_worker_that_a_document_kills_is_a_failed_call(name: str, says: str, session: DocQASession) -> None:
    result = session.call("read_table", {"document": f"{name}.txt", "page": 1})
    assert result.status == "failed"
    assert says in result.text
    result = session.call("read_page", {"document": "fine.txt", "page": 1})
    assert (result.status, "a word" in result.text) == ("ok", True)


def test_when_no_fresh_worker_comes_up_the_sandbox_has_failed(session: DocQASession, tmp_path: Path) -> None:
    (tmp_path / "worker" / "main.py").unlink()
    with pytest.raises(SandboxError):
        session.call("read_table", {"document": "dies.txt", "page": 1})
