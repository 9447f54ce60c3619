#!/bin/bash
set -euo pipefail
cd /workspace/shop
cat > shop/prices.py <<'PY'
"""Prices of items."""

from decimal import ROUND_HALF_UP, Decimal

LIST = {"lamp": Decimal("39.90"), "desk": Decimal("249.00"), "pen": Decimal("1.15")}
RATES = {"EUR": Decimal("1"), "SEK": Decimal("11.4275"), "USD": Decimal("1.0832")}


def unit_price(item, currency="EUR", discount=0):
    """The price of an item in a currency, less a discount in per cent, rounded half up."""
    if not 0 <= discount <= 100:
        raise ValueError("discount must be 0..100")
    exact = LIST[item] * RATES[currency] * (100 - discount) / 100
    return exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
PY
cat > shop/basket.py <<'PY'
"""Baskets of items."""

from decimal import Decimal

from shop.prices import unit_price


def total(items, currency="EUR", discount=0):
    """The sum of the items' unit prices."""
    return sum((unit_price(item, currency, discount) for item in items), Decimal("0.00"))
PY
git add -A
git commit -q -m "Merge feature/discount: discounts in every currency"
