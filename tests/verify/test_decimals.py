"""Reading numbers and dates as people write them, and refusing what would have to be guessed."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradeschool.verify.dates import parse_date
from tradeschool.verify.decimals import parse_quantity, same_unit
from tradeschool.verify.words import NotReadable, fold, quote, split_list


@pytest.mark.parametrize(
    ("text", "value"),
    [("(1,577)", "-1577"), ("$(1,577)", "-1577"), ("-12.5%", "-12.5"), ("1'234'567", "1234567"), (".5", "0.5"),
     ("5.", "5"), ("12 345 678", "12345678"), ("\uff15", "5"), ("+3", "3"), ("USD (5)", "-5"), ("1.5e3", "1500"),
     ("-0", "0"), ("-12,480,000 US dollars", "-12480000"), ("12.48 million U.S. dollars", "12.48"), ("90 days'", "90"),
     ("5 pounds sterling", "5"), ("7 Hong Kong dollars", "7")],
)  # fmt: skip
def test_values(text: str, value: str) -> None:
    assert parse_quantity(text).value == Decimal(value)


@pytest.mark.parametrize(
    "text",
    ["", "inf", "NaN", "1 or 2", "1,23", "1.234,56", "3-4", "--5", "-(5)", "((5))", "5) (", "1_000", "0x10", "1e400",
     "1577 1,577", "5% (was 4)", "about 5", "= 5", "5 thousand million", "\u0665", "\u20ac5 USD", "1" * 200, "9" * 70,
     "(5", "5)", "ninety (90) days", "5 US dollars 6", "US dollars 5 EUR"],
)  # fmt: skip
def test_not_readable(text: str) -> None:
    with pytest.raises(NotReadable):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("ninety days", 90), ("ninety (90) days", 90), ("90 (ninety) days", 90), ("Ninety (90) days'", 90),
     ("twenty-one (21)", 21), ("90 days", 90)],
)  # fmt: skip
def test_numbers_in_words_and_said_twice(text: str, value: int) -> None:
    assert parse_quantity(text, words=True).value == value


@pytest.mark.parametrize(
    "text", ["ninety (60) days", "60 (ninety) days", "ninety or 60 days", "one hundred (100) days", "many days"]
)
def test_two_numbers_that_differ_are_never_read_as_one(text: str) -> None:
    with pytest.raises(NotReadable):
        parse_quantity(text, words=True)


def test_currencies_of_more_than_one_word() -> None:
    assert parse_quantity("5 US dollars").currencies == ("USD",)
    assert parse_quantity("US dollars 5").currencies == ("USD",)
    assert parse_quantity("5 million Canadian dollars").currencies == ("CAD",)
    assert parse_quantity("5 us shares").currencies == ()


def test_m_is_a_million_only_where_money_is_meant() -> None:
    assert parse_quantity("5m", money=True).scale == "million"
    assert parse_quantity("5 m").unit == "m"


def test_superscripts_are_not_digits() -> None:
    assert parse_quantity("10\u00b2").unit  # the unit 'squared', which no field declares; never 102


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
def test_every_spelling_of_a_number_reads_alike(units: int, places: int) -> None:
    value = Decimal(units).scaleb(-places)
    plain = f"{abs(value):f}"
    grouped = f"{abs(value):,f}"
    spellings = [f"-{plain}", f"\u2212{grouped}", f"({grouped})", f"( {plain} )"] if units < 0 else [plain, grouped]
    spellings += [spelling.replace(",", " ") for spelling in spellings]
    assert {parse_quantity(spelling).value for spelling in spellings} == {value}


@given(st.text(max_size=130))
def test_only_not_readable_is_raised(text: str) -> None:
    for read in (parse_quantity, parse_date, fold, quote, split_list):
        with contextlib.suppress(NotReadable):
            read(text)


def test_units() -> None:
    assert same_unit("days", "day")
    assert same_unit("metres", "m")
    assert not same_unit("m", "miles")
    assert same_unit("days'", "day")
    assert same_unit("days\u2019 notice", "days' notice")
    assert not same_unit("'", "")
    assert not same_unit("5'", "5")
    assert not same_unit("months", "years")


@pytest.mark.parametrize(
    "text",
    ["2024-06-30", "30 June 2024", "June 30th, 2024", "the 30th day of June, 2024", "30-Jun-2024",
     "Sunday, 30 June 2024", "30 JUNE 2024.", "2024/6/30", "30.06.2024", "30/06/2024", "06/30/2024", "30-6-2024"],
)  # fmt: skip
def test_dates(text: str) -> None:
    assert parse_date(text) == (2024, 6, 30)


@pytest.mark.parametrize(
    "text",
    ["06/07/2024", "12.11.2024", "31/06/2024", "13/13/2024", "30/06-2024", "30/06/24", "30/0/2024", "2024", "June 2024",
     "31 June 2024", "30 June 24", "30 or 31 June 2024", ""],
)  # fmt: skip
def test_dates_that_would_have_to_be_guessed(text: str) -> None:
    with pytest.raises(NotReadable):
        parse_date(text)


def test_dates_by_locale_and_granularity() -> None:
    assert parse_date("06/07/2024", locale="en-US") == (2024, 6, 7)
    assert parse_date("06/07/2024", locale="en-GB") == (2024, 7, 6)
    assert parse_date("06/06/2024") == (2024, 6, 6)
    assert parse_date("29/09/2023", "month") == (2023, 9)
    with pytest.raises(NotReadable):
        # a declared order is kept to
        parse_date("30/06/2024", locale="en-US")
    assert parse_date("June 2024", "month") == parse_date("30 June 2024", "month") == (2024, 6)
    assert parse_date("2024", "year") == (2024,)


def test_text_is_folded_but_digits_and_signs_are_not() -> None:
    assert fold("The  Caf\u00e9\u00a0\u201cNord\u201d.") == fold('cafe "nord')
    assert fold("-5") != fold("5")
    assert fold("250") != fold("2509")
    assert quote("a\ud800b\x00" + "c" * 100).encode("utf-8")


def test_lists_keep_numbers_whole() -> None:
    assert split_list("1,577, 1,373 and 12") == ["1,577", "1,373", "12"]
    assert split_list("red; green, light") == ["red", "green, light"]
