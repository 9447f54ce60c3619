#!/bin/bash
set -euo pipefail
export GIT_AUTHOR_NAME="Ines Okoro" GIT_AUTHOR_EMAIL="ines@shop.example"
export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME" GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"
export GIT_AUTHOR_DATE="1726000000 +0000" GIT_COMMITTER_DATE="1726000000 +0000"
mkdir -p shop && cd shop
git init -q -b main
mkdir shop && touch shop/__init__.py
cat > shop/prices.py <<'PY'
"""Prices of items."""

from decimal import Decimal

LIST = {"lamp": Decimal("39.90"), "desk": Decimal("249.00"), "pen": Decimal("1.15")}


def price(item):
    """The price of an item in euros."""
    return LIST[item]
PY
git add -A && git commit -q -m "List prices"
git checkout -q -b feature/discount
cat > shop/prices.py <<'PY'
"""Prices of items."""

from decimal import ROUND_HALF_UP, Decimal

LIST = {"lamp": Decimal("39.90"), "desk": Decimal("249.00"), "pen": Decimal("1.15")}


def price(item, discount=0):
    """The price of an item in euros, less a discount in per cent, rounded half up."""
    if not 0 <= discount <= 100:
        raise ValueError("discount must be 0..100")
    return (LIST[item] * (100 - discount) / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)
PY
cat > shop/basket.py <<'PY'
"""Baskets of items."""

from decimal import Decimal

from shop.prices import price


def total(items, discount=0):
    """The sum of the items' prices."""
    return sum((price(item, discount) for item in items), Decimal("0.00"))
PY
git add -A && git commit -q -m "Add discounts and baskets"
git checkout -q main
cat > shop/prices.py <<'PY'
"""Prices of items."""

from decimal import Decimal

LIST = {"lamp": Decimal("39.90"), "desk": Decimal("249.00"), "pen": Decimal("1.15")}
RATES = {"EUR": Decimal("1"), "SEK": Decimal("11.4275"), "USD": Decimal("1.0832")}


def unit_price(item, currency="EUR"):
    """The price of an item in a currency."""
    return (LIST[item] * RATES[currency]).quantize(Decimal("0.01"))
PY
git add -A && git commit -q -m "Prices in other currencies"
git merge feature/discount > /dev/null || true
