"""Whole episodes in the namespace sandbox: the starter tasks, the tools, determinism, broken packs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tradeschool.envs.docqa.env import DocQAEnv
from tradeschool.errors import TaskError
from tradeschool.task import TaskPack, builtin_packs

STARTER = builtin_packs()["starter"]
TASKS = sorted(path.name for path in STARTER.glob("docqa-*"))
pytestmark = pytest.mark.sandbox


def actions(task: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in (STARTER / task / "solution" / "actions.jsonl").read_text("utf-8").splitlines()
    ]


@pytest.fixture
def play() -> Iterator:
    """`play(task, actions)` -> (last text, reward, ended, info); environments are closed at the end."""
    made = []

    def run(task: str, calls: list[dict[str, Any]], **options: Any):
        env = DocQAEnv(task=task, sandbox="namespace", **options)
        made.append(env)
        observation, info = env.reset(seed=3)
        reward, ended = 0.0, False
        for call in calls:
            observation, reward, ended, _, info = env.step(call)
        return observation["text"], reward, ended, info

    yield run
    for env in made:
        env.close()


@pytest.mark.parametrize("task", TASKS)
def test_the_solution_is_one_and_nothing_is_zero(task: str, play: Any) -> None:
    _, reward, ended, info = play(task, actions(task))
    assert (reward, ended) == (1.0, True), info["reward"]
    _, reward, ended, info = play(task, [{"name": "submit", "arguments": {}}])
    assert (reward, ended) == (0.0, True)
    assert info["reward"].parts[0].reason == "no answer was given"


@pytest.mark.parametrize("task", TASKS)
def test_solutions_read_before_they_answer_and_every_call_works(task: str, play: Any) -> None:
    calls = actions(task)
    assert {call["name"] for call in calls} >= {"calculate", "submit"}
    *_, info = play(task, calls)
    parts = {part.name: part.value for part in info["reward"].parts}
    assert parts["conduct.legal"] == parts["conduct.well_formed"] == 1.0
    assert parts["conduct.repeated_failures"] == 0


def test_equal_seeds_give_equal_observations() -> None:
    def walk() -> list[str]:
        env = DocQAEnv(sandbox="namespace")
        texts = [env.reset(seed=11)[0]["text"]]
        env.action_space.seed(11)
        while len(texts) < 12:
            observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
            texts.append(observation["text"])
            if terminated or truncated:
                texts.append(env.reset()[0]["text"])
        env.close()
        return texts

    assert walk() == walk()


@pytest.mark.parametrize(
    ("call", "status", "says"),
    [
        ({"name": "read_page", "arguments": {"document": "d9", "page": 1}}, "failed", "not among the documents"),
        ({"name": "read_page", "arguments": {"document": "d1", "page": 99}}, "failed", "pages 1 to 5"),
        ({"name": "read_page", "arguments": {"document": "d1"}}, "malformed", "page"),
        ({"name": "read_page", "arguments": {"document": "d1", "page": 3, "offset": 10**6}}, "ok", "no text here"),
        ({"name": "read_table", "arguments": {"document": "d1", "page": 1}}, "failed", "no table"),
        ({"name": "read_table", "arguments": {"document": "d1", "page": 3, "table": 2}}, "failed", "tables 1 to 1"),
        ({"name": "read_table", "arguments": {"document": "d1", "page": 3, "row": 99}}, "failed", "16 rows"),
        ({"name": "read_cells", "arguments": {"document": "d1", "sheet": 1, "range": "A1"}}, "failed", "XLSX"),
        ({"name": "calculate", "arguments": {"expression": "1/0"}}, "failed", "division by 0"),
        ({"name": "search", "arguments": {"query": "zebra"}}, "ok", "Nothing found"),
        ({"name": "search", "arguments": {"query": "x", "document": "nope.pdf"}}, "failed", "not among"),
    ],
)
def test_wrong_calls_say_what_to_do(call: dict[str, Any], status: str, says: str, play: Any) -> None:
    text, _, ended, info = play("docqa-cross-page-table", [call])
    assert (info["status"], ended) == (status, False)
    assert says in text


WHOLE = [
    {"name": "read_page", "arguments": {"document": "d2", "page": 1.0, "offset": 0.0}},
    {"name": "search", "arguments": {"query": "total", "limit": 3.0}},
    {"name": "read_table", "arguments": {"document": "d2", "page": 1.0, "table": 1.0, "row": 1.0}},
    {"name": "read_cells", "arguments": {"document": "d2", "sheet": 1.0, "range": "A1:B2"}},
]


def test_whole_numbers_with_a_point_work_as_whole_numbers_do(play: Any) -> None:
    for call in WHOLE:
        text, _, _, info = play("docqa-ledger-vs-report", [call])
        arguments = {key: int(v) if isinstance(v, float) else v for key, v in call["arguments"].items()}
        assert (text, info["status"]) == (play("docqa-ledger-vs-report", [{**call, "arguments": arguments}])[0], "ok")
    cited = {"answer": {}, "citations": [{"document": "d1", "page": 1.0}]}
    *_, ended, _ = play("docqa-ledger-vs-report", [{"name": "submit", "arguments": cited}])
    assert ended


HUGE = 10**5000
ANYTHING = [
    {"name": "search", "arguments": {"query": HUGE}},
    {"name": "read_page", "arguments": {"document": "d1", "page": HUGE}},
    {"name": "read_cells", "arguments": {"document": "d2", "sheet": HUGE, "range": "A1"}},
    {"name": "read_cells", "arguments": {"document": "d2", "sheet": "\ud800", "range": "\ud800"}},
    {"name": "read_table", "arguments": {"document": "d2", "page": float("nan")}},
    {"name": "calculate", "arguments": {"expression": "((10**-150)**99.5)**30.5"}},
    {"name": "calculate", "arguments": {"expression": "((10**150)**99.5)**150.5"}},
    {"name": "search", "arguments": {"query": "x", HUGE: 1}},
    {"name": "search", HUGE: 1},
    {"name": "submit", "arguments": {"answer": {"difference": HUGE}, "citations": [{"document": "d9", "page": 2.0}]}},
]


def test_no_call_raises_through_the_environment(play: Any) -> None:
    *_, info = play("docqa-ledger-vs-report", ANYTHING[:-1])
    assert info["status"] == "malformed"
    _, reward, ended, _ = play("docqa-ledger-vs-report", ANYTHING)
    assert (reward, ended) == (0.0, True)


def test_a_wrong_range_is_no_fault_of_the_file(play: Any) -> None:
    call = {"name": "read_cells", "arguments": {"document": "d2", "sheet": 1, "range": "A41:A40"}}
    text, _, _, info = play("docqa-ledger-vs-report", [call])
    assert info["status"] == "failed"
    assert text.endswith("Put the top left cell first: A40:A41.")


def test_a_continued_table_is_joined_but_not_with_another_one(play: Any) -> None:
    read = {"name": "read_table", "arguments": {"document": "d1", "page": 3}}
    text, *_ = play("docqa-cross-page-table", [read])
    assert "may go on on page 4" in text
    read["arguments"]["joined"] = True
    text, *_ = play("docqa-cross-page-table", [read])
    assert "from pages 3 to 4" in text
    assert text.count("Site | Country") == 1
    assert "Total additions" in text
    assert "Software" not in text


def test_long_text_is_cut_and_can_be_read_on(tmp_path: Path) -> None:
    pack = copy_pack(tmp_path, "docqa-units")
    long = "\n".join(f"row {number}, value {number * 7}" for number in range(3000))
    folder = pack / "docqa-units" / "environment" / "documents"
    (folder / "corvane-note-2.txt").write_text(long)
    (folder / "big.csv").write_text("a,b\n" + "\n".join(f"{n},{'x' * 300}" for n in range(300)))
    env = DocQAEnv(pack=str(pack), sandbox="namespace")
    env.reset(seed=1)
    table = env.step({"name": "read_table", "arguments": {"document": "big.csv", "page": 1}})[0]["text"]
    assert len(table) < 9000
    assert "read on with row=" in table
    page = env.step({"name": "read_page", "arguments": {"document": "big.csv", "page": 1}})[0]["text"]
    assert "read on with offset=8000" in page
    rest = env.step({"name": "read_page", "arguments": {"document": "big.csv", "page": 1, "offset": 8000}})[0]["text"]
    assert "characters 8000 to 16000" in rest
    found = env.step({"name": "search", "arguments": {"query": "value", "limit": 20}})[0]["text"]
    assert len(found) < 9000
    assert "more passages" in found
    env.close()


def test_render_shows_the_page_that_was_read(play: Any) -> None:
    env = DocQAEnv(task="docqa-units", sandbox="namespace", render_mode="rgb_array")
    env.reset(seed=1)
    before = env.render()
    env.step({"name": "read_page", "arguments": {"document": "d1", "page": 1}})
    after = env.render()
    assert after.dtype.name == "uint8"
    assert after.shape != before.shape
    env.close()


def test_the_answer_and_the_host_are_out_of_the_sandboxs_reach() -> None:
    env = DocQAEnv(task="docqa-units", sandbox="namespace")
    env.reset(seed=1)
    assert env.session is not None
    sandbox = env.session.sandbox  # type: ignore[attr-defined]
    listed = sandbox.run(
        "ls /srv/docqa/documents; find / -name 'answer*.json' -not -path '/proc/*' 2>/dev/null", cwd="/"
    )
    names = listed.stdout.decode().split()
    assert "corvane-10-k-2023.pdf" in names
    assert not [name for name in names if name.endswith((".schema.json", "answer.json"))]
    env.close()


def test_a_worker_that_is_killed_in_its_sandbox_comes_back() -> None:
    env = DocQAEnv(task="docqa-ledger-vs-report", sandbox="namespace")
    env.reset(seed=1)
    assert env.session is not None
    # as the kernel does when a document takes the worker's memory
    killed = env.session.sandbox.run(  # type: ignore[attr-defined]
        "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline | grep -q docqa/worker/main[.]py && kill -9 ${p#/proc/}"
        " && echo killed; done; true",
        cwd="/",
    )
    assert killed.stdout.split() == [b"killed"]
    call = {"name": "read_table", "arguments": {"document": "d2", "page": 1}}
    assert env.step(call)[-1]["status"] == "failed"
    assert env.step(call)[-1]["status"] == "ok"
    env.close()


def copy_pack(tmp_path: Path, task: str) -> Path:
    pack = tmp_path / "pack"
    pack.mkdir()
    shutil.copy(STARTER / "pack.toml", pack)
    shutil.copytree(STARTER / task, pack / task)
    return pack


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("environment/documents/note.txt", b"", "is empty"),
        ("environment/documents/note.xls", b"x", "no parser reads"),
        ("environment/documents/sub/x.txt", b"x", "no plain file"),
        ("tests/answer.json", None, "cannot be read"),
        ("tests/answer.schema.json", b"{}", "type"),
        ("tests/answer.json", b'{"answer": {"x": NaN}}', "NaN"),
    ],
)
def test_cheap_checks_find_broken_tasks(file: str, content: bytes | None, says: str, tmp_path: Path) -> None:
    pack = copy_pack(tmp_path, "docqa-units")
    path = pack / "docqa-units" / file
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    task = TaskPack.load(pack).tasks[0]
    with pytest.raises(TaskError, match=says) as caught:
        DocQAEnv.check_task(task)
    assert Path(file).parts[0] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["a\nd9  secret.pdf  PDF, 1 page.txt", "\u202etxt.exe.txt", "a\x1b[31m.txt", "\udcff.txt"]
)
def test_a_name_that_cannot_be_printed_is_refused(name: str, tmp_path: Path) -> None:
    pack = copy_pack(tmp_path, "docqa-units")
    (pack / "docqa-units" / "environment" / "documents" / name).write_text("x")
    with pytest.raises(TaskError, match="cannot be printed") as caught:
        DocQAEnv.check_task(TaskPack.load(pack).tasks[0])
    assert str(caught.value).isprintable()


def test_a_name_in_any_script_is_allowed(tmp_path: Path) -> None:
    pack = copy_pack(tmp_path, "docqa-units")
    (
        pack / "docqa-units" / "environment" / "documents" / "\u041e\u0442\u0447\u0451\u0442 \u5831\u544a 1.txt"
    ).write_text("x")
    DocQAEnv.check_task(TaskPack.load(pack).tasks[0])


def test_check_task_finds_a_citation_of_no_document(tmp_path: Path) -> None:
    pack = copy_pack(tmp_path, "docqa-units")
    (pack / "docqa-units" / "environment" / "documents" / "corvane-note-2.txt").rename(tmp_path / "x.txt")
    with pytest.raises(TaskError, match=r"cites 'corvane-note-2\.txt'"):
        DocQAEnv.check_task(TaskPack.load(pack).tasks[0])


def test_an_encrypted_document_is_a_task_error_at_the_start(tmp_path: Path, plain: ModuleType) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    pack = copy_pack(tmp_path, "docqa-units")
    path = pack / "docqa-units" / "environment" / "documents" / "corvane-10-k-2023.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("secret", strength=40))
    canvas.drawString(50, 50, "hello")
    canvas.save()
    env = DocQAEnv(pack=str(pack), sandbox="namespace")
    DocQAEnv.check_task(env.choices[0])
    with pytest.raises(TaskError, match=r"corvane-10-k-2023\.pdf is encrypted") as caught:
        env.reset(seed=1)
    assert caught.value.kind == "encrypted"
    assert "without a password" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert env.session is None


def test_random_play_never_raises() -> None:
    env = DocQAEnv(sandbox="namespace", max_steps=15)
    env.action_space.seed(5)
    for episode in range(4):
        env.reset(seed=episode)
        ended = False
        while not ended:
            observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            assert env.observation_space.contains(observation)
            assert 0.0 <= reward <= 1.0
            ended = terminated or truncated
    env.close()
