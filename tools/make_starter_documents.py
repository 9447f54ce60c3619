"""Makes the documents of the starter pack's docqa tasks again, byte for byte, from code and fixed seeds.

    python tools/make_starter_documents.py [--out FOLDER]

Without --out they are written into tasks/starter/<task>/environment/documents. Needs the `dev` extra (reportlab,
openpyxl, python-docx). Companies, people and figures are invented.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from starter_documents import capex, contract, figures, ledger, mill

TASKS: dict[str, Callable[[Path], None]] = {
    "docqa-contract-amendment": contract.make,
    "docqa-cross-page-table": capex.make,
    "docqa-ledger-vs-report": ledger.make,
    "docqa-units": figures.make,
    "docqa-wrong-premise": mill.make,
}


def make_all(out: Path) -> None:
    """Write every task's documents to `out/<task>/environment/documents`."""
    for task, make in TASKS.items():
        folder = out / task / "environment" / "documents"
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent / "tasks" / "starter"
    parser.add_argument(
        "--out", type=Path, default=root, help="the pack's folder, or another one (default: %(default)s)"
    )
    make_all(parser.parse_args().out)
