"""HTML by lxml: what a reader of the page sees, headings and tables in order, cut into sections.

Scripts, styles and comments are dropped; elements hidden by attribute or inline style are left out and told, rows and
cells of a table at the table. Cells keep their rowspan and colspan. Not covered: style sheets, colours, positions off
the page, frames, anything a script would make.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import lxml.etree
import lxml.html
from pages import MAX_CELLS, Document, DocumentFault, Sections, Table, cell, number_tables, table_block
from parse_text import decode

MAX_BYTES = 16 * 2**20
DROP = ("script", "style", "template", "noscript", "head", "iframe", "object", "svg")
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "nav", "ol",
    "p", "pre", "section", "summary", "table", "ul",
})  # fmt: skip
HIDDEN = re.compile(
    r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|(?:font-size|opacity)\s*:\s*0(?![.0-9]*[1-9]))",
    re.IGNORECASE,
)
STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
MAX_DEPTH = 200


class HtmlDocument(Document):
    kind = "HTML"
    page_word = "section"

    def __init__(self, path: Path) -> None:
        super().__init__()
        raw = path.read_bytes()
        if len(raw) > MAX_BYTES:
            raise DocumentFault("too_large", f"is {len(raw)} bytes; at most {MAX_BYTES} are read")
        text = decode(raw)[0]
        # a declared encoding would be refused for text that is decoded already
        text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
        parser = lxml.html.HTMLParser(huge_tree=False, remove_comments=True, remove_pis=True, no_network=True)
        try:
            root = lxml.html.document_fromstring(text, parser=parser)
        except (lxml.etree.ParserError, lxml.etree.XMLSyntaxError, ValueError) as error:
            raise DocumentFault(
                "empty" if "empty" in str(error) else "malformed", f"has no HTML content ({error})"
            ) from None
        cut = [entry.message for entry in parser.error_log if entry.type_name == "ERR_RESOURCE_LIMIT"]
        if cut:
            # libxml2 would leave the rest of the page out in silence
            raise DocumentFault("too_large", f"is beyond the parser's limits ({cell(cut[0])})")
        title = root.findtext(".//title")
        self.hidden = 0
        self.hidden_in: dict[lxml.html.HtmlElement, Counter[str]] = {}
        self.sections = Sections()
        if title and title.strip():
            self.sections.add(f"[title] {cell(title)}", title=cell(title))
        for element in list(root.iter(*DROP)):
            element.drop_tree()
        self._empty_hidden(root)
        self._walk(root, 0)
        self._flush()
        self.pages = number_tables(self.sections.pages)
        if self.hidden:
            self.notes.append(f"{self.hidden} characters hidden from a reader of the page are left out")
        if not any(page.text.strip() for page in self.pages):
            raise DocumentFault("empty", "has no text")

    def _empty_hidden(self, root: lxml.html.HtmlElement) -> None:
        """Takes out what is hidden, before anything is read; counts its characters, and rows and cells by table."""
        stack = [root]
        while stack:
            element = stack.pop()
            if not isinstance(element.tag, str):
                continue
            if not is_hidden(element):
                stack.extend(element)
                continue
            self.hidden += len(" ".join(element.text_content().split()))
            table = next(element.iterancestors("table"), None)
            if table is not None:
                self.hidden_in.setdefault(table, Counter()).update(_hidden_parts(element))
            # an empty cell stays in its place, so that the others keep theirs; of the rest an empty word is left
            spans = {key: value for key, value in element.attrib.items() if key in ("rowspan", "colspan")}
            element.clear(keep_tail=True)
            if element.tag in ("td", "th"):
                element.attrib.update(spans)
            elif element is not root:
                element.tag = "span"

    def _table(self, element: lxml.html.HtmlElement) -> None:
        table = read_table(element)
        if hidden := self.hidden_in.get(element):
            told = ", ".join(
                f"{count} {word}{'' if count == 1 else 's'}" for word, count in sorted(hidden.items()) if count
            )
            table.note = f"left out, hidden from a reader of the page: {told}"
        if table.rows and table.rows[0]:
            table_block(self.sections, table)
        elif table.title:
            self.sections.add(table.title)

    _line = ""

    def _flush(self, prefix: str = "") -> None:
        text, self._line = " ".join(self._line.split()), ""
        if text:
            self.sections.add(prefix + text)

    def _walk(self, element: lxml.html.HtmlElement, depth: int) -> None:
        if not isinstance(element.tag, str):
            self._line += element.tail or ""
            return
        tag = element.tag.lower()
        if tag == "table":
            self._flush()
            self._table(element)
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._flush()
            heading = cell(element.text_content())
            if heading:
                self.sections.heading(heading, int(tag[1]))
        elif tag == "sup":
            # a note mark must not run into a number: 250<sup>9</sup> is not 2509
            self._line += f"^{element.text_content()}"
        elif depth > MAX_DEPTH:
            self._line += element.text_content()
        else:
            self._inside(element, tag, depth)
        self._line += element.tail or ""

    def _inside(self, element: lxml.html.HtmlElement, tag: str, depth: int) -> None:
        if tag in BLOCKS:
            self._flush()
        self._line += ("\n" if tag == "br" else "") + (element.text or "")
        for child in element:
            self._walk(child, depth + 1)
        if tag == "br":
            self._flush()
        elif tag in BLOCKS:
            self._flush("- " if tag == "li" else "")


def is_hidden(element: lxml.html.HtmlElement) -> bool:
    style = element.get("style")
    return element.get("hidden") is not None or bool(style and HIDDEN.search(STYLE_COMMENT.sub("", style)))


def _hidden_parts(element: lxml.html.HtmlElement) -> Mapping[str, int]:
    """What of a table a hidden element takes with it: rows, a cell, or a passage within one."""
    if element.tag in ("thead", "tbody", "tfoot"):
        return {"row": sum(1 for _ in element.iterchildren("tr"))}
    return {"row" if element.tag == "tr" else "cell" if element.tag in ("td", "th") else "passage": 1}


def read_table(element: lxml.html.HtmlElement) -> Table:
    """Cells on their grid by the HTML standard's algorithm: a span's text stands in its first cell."""
    grid: dict[tuple[int, int], str] = {}
    spans: list[list[int]] = []
    lines = [row for row in element.iter("tr") if next(row.iterancestors("table")) is element]
    for r, line in enumerate(lines):
        c = 0
        for item in line.iterchildren("td", "th"):
            while (r, c) in grid:
                c += 1
            down = min(_span(item.get("rowspan")), len(lines) - r)
            across = _span(item.get("colspan"))
            if len(grid) + down * across > MAX_CELLS:
                raise DocumentFault("too_large", f"has a table of more than {MAX_CELLS} cells")
            for y in range(r, r + down):
                for x in range(c, c + across):
                    grid.setdefault((y, x), "")
            grid[r, c] = cell(" ".join(_visible(item).split()))
            if down > 1 or across > 1:
                spans.append([r, c, down, across])
            c += across
    width = max((x for _, x in grid), default=-1) + 1
    if len(lines) * width > MAX_CELLS:
        raise DocumentFault("too_large", f"has a table of more than {MAX_CELLS} cells")
    caption = element.find("caption")
    title = cell(caption.text_content()) if caption is not None else ""
    return Table([[grid.get((r, c), "") for c in range(width)] for r in range(len(lines))], spans, title)


def _visible(element: lxml.html.HtmlElement) -> str:
    """The text of a cell, blocks apart and note marks marked."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == "sup":
            parts.append(f"^{child.text_content()}")
        elif isinstance(child.tag, str):
            parts.append(f"{' ' if child.tag in BLOCKS or child.tag == 'br' else ''}{_visible(child)}")
        parts.append(child.tail or "")
    return "".join(parts)


def _span(text: str | None) -> int:
    """A span as browsers read it: at least 1, at most 1000."""
    digits = re.match(r"\s*([0-9]{1,6})", text or "")
    return min(max(int(digits.group(1)), 1), 1_000) if digits else 1
