"""``python3 -m ledger.cli FILE [DEPARTMENTS]``"""

import sys

from ledger import report


def main(arguments):
    with open(arguments[0], encoding="utf-8") as file:
        departments = int(arguments[1]) if len(arguments) > 1 else 1
        sys.stdout.write(report.render(file.read().splitlines(), departments))


if __name__ == "__main__":
    main(sys.argv[1:])
