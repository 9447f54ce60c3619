"""Search keeps numbers whole, and no query is ever syntax."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradeschool.envs.docqa.documents import Document, PageReply
from tradeschool.envs.docqa.index import PASSAGE_CHARS, Found, SearchIndex, passages
from tradeschool.envs.docqa.tokens import page_terms, query_terms

TEXTS = (
    "Purchases of equipment (1,577) (1,373) (1,420)",
    "Filed on Form 10-K with a margin of 12.5% for 2019-2020",
    "Paid 577 and 1 577 and 15770 to 10 kings",
    "Long-term debt rose to $1,577.00; see clause 4.2.1(b) and JE-0457",
    "Caf\u00e9 payments in Lule\u00e5, \u041e\u0442\u0447\u0451\u0442 2023",
    "Booked 1240.00 and 2586.9 on account 4.2.10",
    "Reversed (2,586.90), or 7.50% of it",
)


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    pages = tuple(PageReply(title="", text=text) for text in TEXTS)
    one = Document("d1", "a.pdf", "PDF", "page", pages, ())
    other = Document("d2", "b.txt", "TXT", "section", (PageReply(title="Debt", text="the debt of another 1,577"),), ())
    return SearchIndex([one, other])


def pages_of(found: Found) -> list[tuple[str, int]]:
    return [(hit.document, hit.page) for hit in found.hits]


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("1,577", {("d1", 1), ("d1", 4), ("d2", 1)}),
        ("1577", {("d1", 1), ("d1", 4), ("d2", 1)}),
        ("(1,577)", {("d1", 1)}),
        ("-1,577", {("d1", 1)}),
        ("577", {("d1", 3)}),
        ("1,577.00", {("d1", 1), ("d1", 4), ("d2", 1)}),
        ("1,577.01", set()),
        ("1240", {("d1", 6)}),
        ("1240.0", {("d1", 6)}),
        ("2586.9", {("d1", 6), ("d1", 7)}),
        ("-2,586.90", {("d1", 7)}),
        ("7.5%", {("d1", 7)}),
        ("4.2.1", {("d1", 4)}),
        ("10-K", {("d1", 2)}),
        ("form 10-k", {("d1", 2)}),
        ("12.5%", {("d1", 2)}),
        ("12.5", {("d1", 2)}),
        ("2019-2020", {("d1", 2)}),
        ("JE-0457", {("d1", 4)}),
        ("long term debt", {("d1", 4)}),
        ("cafe payment", {("d1", 5)}),
        ("\u043e\u0442\u0447\u0451\u0442", {("d1", 5)}),
    ],
)
def test_numbers_and_codes_are_whole(index: SearchIndex, query: str, pages: set[tuple[str, int]]) -> None:
    found = index.search(query, None, 20)
    assert found.every == bool(pages)
    if pages:
        assert set(pages_of(found)) == pages


def test_without_a_full_match_some_of_the_terms_are_found_and_that_is_told(index: SearchIndex) -> None:
    found = index.search("equipment JE-9999", None, 5)
    assert not found.every
    assert ("d1", 1) in pages_of(found)


def test_one_document_and_a_limit(index: SearchIndex) -> None:
    assert pages_of(index.search("1,577", "d2", 5)) == [("d2", 1)]
    # asked for with its zeros, the page that prints them comes first
    assert pages_of(index.search("1,577.00", None, 1)) == [("d1", 4)]
    found = index.search("debt", None, 1)
    assert len(found.hits) == 1
    assert found.total == 2


@pytest.mark.parametrize(
    "query",
    ['"', "'; DROP TABLE passages; --", "a OR b", "NEAR(a b)", "terms:x", "col : x", "* ^ - +", "AND", "NOT", "()",
     "\x00", "1,577 OR 1=1", "{a b} : c", "\ud800", "a" * 400, " "],
)  # fmt: skip
def test_no_query_is_syntax(index: SearchIndex, query: str) -> None:
    index.search(query, None, 5)


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_terms_are_letters_and_digits_only(text: str) -> None:
    for term in page_terms(text) + query_terms(text) + query_terms(text, parts=True):
        assert term.isascii()
        assert term.isalnum()


@given(st.integers(0, 10**9), st.sampled_from(["{}", "({})", "${}", "-{}", "{}%", "x {}, y", "{}."]))
def test_a_number_is_found_as_it_is_printed(number: int, form: str) -> None:
    printed = form.format(f"{number:,}")
    assert set(query_terms(printed)) <= set(page_terms(printed))
    assert query_terms(f"{number}")[0] in page_terms(printed)


@given(st.text(alphabet="ab \n", max_size=5000))
def test_passages_leave_nothing_out(text: str) -> None:
    made = list(passages(text))
    assert all(text[start : start + len(part)] == part and len(part) <= PASSAGE_CHARS for start, part in made)
    assert "".join(part for _, part in made).replace(" ", "").replace("\n", "") == text.replace(" ", "").replace(
        "\n", ""
    )
