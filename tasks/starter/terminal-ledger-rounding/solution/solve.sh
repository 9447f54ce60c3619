#!/bin/bash
set -euo pipefail
cd /workspace
python3 - <<'PY'
import pathlib

path = pathlib.Path("ledger/money.py")
text = path.read_text()
text = text.replace("import re\n", "import re\nfrom decimal import ROUND_HALF_EVEN, Context, Decimal\n", 1)
text = text.replace(
    "    return int(float(text) * 100)\n",
    "    exact = Context(prec=len(text) + 2)\n"
    "    cents = exact.multiply(Decimal(text), Decimal(100))\n"
    "    return int(cents.to_integral_value(rounding=ROUND_HALF_EVEN))\n",
)
text = text.replace(
    "    share = round(cents / parts)\n    return [share] * parts\n",
    "    sign = -1 if cents < 0 else 1\n"
    "    share, left = divmod(abs(cents), parts)\n"
    "    return [sign * (share + (number < left)) for number in range(parts)]\n",
)
path.write_text(text)
PY
python3 -m pytest -q -p no:cacheprovider tests
