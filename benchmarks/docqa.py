"""Speed of the document trade on one generated report: opening, search, reading pages, scoring.

    python benchmarks/docqa.py [--pages 160] [--queries 200] [--sandbox namespace] [--seed 0] [--json]

Needs the `dev` extra (reportlab makes the report). With --json, one object on standard output:
{"open_s", "search_ms": {"p50", "p95"}, "read_page_ms": {...}, "scores_per_s", ...}.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import arguments, emit, timed_ms
from reportlab.pdfgen.canvas import Canvas

from tradeschool.envs.docqa.env import DocQAEnv
from tradeschool.verify.answers import AnswerKey

WORDS = ("revenue", "cost", "margin", "site", "lease", "note", "audit", "board", "share", "cash", "asset", "debt",
         "segment", "plant", "equipment", "total")  # fmt: skip
SCHEMA = {
    "type": "object",
    "properties": {
        "total": {"type": ["number", "string"], "x-type": "number", "x-scale": "thousand", "x-precision": 1},
        "share": {"type": ["number", "string"], "x-type": "percent", "x-tolerance": {"relative": 0.01}},
        "when": {"type": "string", "x-type": "date"},
        "sites": {"type": "array", "x-type": "set", "items": {"type": "string", "x-type": "text"}},
    },
    "required": ["total", "share", "when", "sites"],
    "additionalProperties": False,
}
GOLD = {"total": -1577.5, "share": 12.5, "when": "2024-06-30", "sites": ["Bergen", "Halden", "Lund"]}
TASK = """\
schema_version = "1.4"

[tradeschool]
family = "docqa"

[tradeschool.limits]
max_steps = 100000
wall_time_s = 3600
"""


def write_report(path: Path, pages: int, rng: random.Random) -> list[str]:
    """A report of `pages` pages of 45 lines; returns figures that are printed in it."""
    figures = []
    canvas = Canvas(str(path), invariant=1)
    for _ in range(pages):
        for line in range(45):
            number = f"{rng.randint(1000, 9_999_999):,}"
            figures.append(number)
            words = " ".join(rng.choices(WORDS, k=7))
            canvas.drawString(
                40, 800 - 16 * line, f"{words} {number} ({rng.randint(1, 999)}) {rng.random() * 100:.1f}%"
            )
        canvas.showPage()
    canvas.save()
    return figures


def write_pack(root: Path, pages: int, rng: random.Random) -> list[str]:
    """A pack of one task over the report."""
    documents = root / "report" / "environment" / "documents"
    documents.mkdir(parents=True)
    (root / "report" / "tests").mkdir()
    (root / "pack.toml").write_text('name = "bench"\nversion = "0"\nlicence = "Apache-2.0"\n', "utf-8")
    (root / "report" / "task.toml").write_text(TASK, "utf-8")
    (root / "report" / "instruction.md").write_text("Read the report.\n", "utf-8")
    (root / "report" / "tests" / "answer.schema.json").write_text(json.dumps(SCHEMA), "utf-8")
    (root / "report" / "tests" / "answer.json").write_text(json.dumps({"answer": GOLD}), "utf-8")
    return write_report(documents / "report.pdf", pages, rng)


def timed(calls: list[Callable[[], Any]]) -> dict[str, float]:
    """p50 and p95 of the calls, in milliseconds."""
    waiting = iter(calls)
    return timed_ms(lambda: next(waiting)(), len(calls))


def measure(pages: int, queries: int, sandbox: str, seed: int) -> dict[str, Any]:
    """All figures, on a report made anew in a temporary folder."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        figures = write_pack(Path(folder), pages, rng)
        env = DocQAEnv(pack=folder, sandbox=sandbox)
        env.reset(seed=seed)  # the first start prepares the sandbox's parts
        began = time.perf_counter()
        env.reset(seed=seed)
        open_s = time.perf_counter() - began

        def act(name: str, **arguments: Any) -> Callable[[], Any]:
            return lambda: env.step({"name": name, "arguments": arguments})

        asked = [act("search", query=rng.choice([rng.choice(figures), " ".join(rng.choices(WORDS, k=3))]))
                 for _ in range(queries)]  # fmt: skip
        search = timed(asked)
        read = timed([act("read_page", document="d1", page=rng.randint(1, pages)) for _ in range(queries)])
        table = timed([act("read_table", document="d1", page=page) for page in range(1, min(pages, 10) + 1)])
        env.close()
        key = AnswerKey.load(Path(folder) / "report" / "tests")
    answer = {**GOLD, "total": "(1,577.5)", "when": "30 June 2024", "sites": ["Lund", "Halden", "Oslo"]}
    rounds = 500
    began = time.perf_counter()
    for _ in range(rounds):
        key.score(answer)
    return {
        "pages": pages,
        "sandbox": sandbox,
        "open_s": round(open_s, 3),
        "search_ms": search,
        "read_page_ms": read,
        "read_table_ms": table,
        "scores_per_s": round(rounds / (time.perf_counter() - began)),
    }


def main() -> None:
    parser = arguments("Speed of the document trade on one generated report.")
    parser.add_argument("--pages", type=int, default=160)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--sandbox", default="namespace", choices=("namespace", "docker"))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    emit(measure(given.pages, given.queries, given.sandbox, given.seed), given.json)


if __name__ == "__main__":
    main()
