"""The tools of a document episode, as a model sees them."""

from __future__ import annotations

from tradeschool.tools import Tool

DOCUMENT = {
    "type": "string",
    "maxLength": 255,
    "description": "A document's id (d1) or file name.",
    "examples": ["d1", "d2"],
}
PAGE = {"type": "integer", "minimum": 1, "maximum": 100_000, "examples": [1, 2], "description": "From 1."}
OFFSET = {"type": "integer", "minimum": 0, "maximum": 10_000_000, "examples": [0]}

TOOLS: tuple[Tool, ...] = (
    Tool("list_documents", "The documents: id, file name, format, number of pages, what is odd about them."),
    Tool(
        "read_page",
        "The text of one page (PDF), sheet (XLSX), section (DOCX, HTML, TXT, Markdown) or part (CSV). A long page is "
        "cut; read on with `offset`.",
        {
            "type": "object",
            "properties": {
                "document": DOCUMENT,
                "page": PAGE,
                "offset": {**OFFSET, "description": "The character to begin at; 0 if left out."},
            },
            "required": ["document", "page"],
        },
    ),
    Tool(
        "search",
        "Passages with all the words and numbers of the query; when there are none, with some of them. Numbers are "
        "matched whole: 1,577 finds 1,577, 1,577.00 and (1,577), never 577; (1,577) finds the negative first.",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1, "maxLength": 400, "examples": ["total", "notice period"]},
                "document": {**DOCUMENT, "description": "Search this one only (id or file name)."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "Passages at most; 5."},
            },
            "required": ["query"],
        },
    ),
    Tool(
        "read_table",
        "One table of a page as rows of cells. Merged cells are told. Of a PDF it is told where a table may go on on "
        "the next page; `joined` then gives both parts as one.",
        {
            "type": "object",
            "properties": {
                "document": DOCUMENT,
                "page": PAGE,
                "table": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000,
                    "examples": [1],
                    "description": "From 1; 1.",
                },
                "row": {**OFFSET, "minimum": 1, "examples": [1], "description": "The row to begin at; 1."},
                "joined": {"type": "boolean", "description": "With what continues it on the next pages; false."},
            },
            "required": ["document", "page"],
        },
    ),
    Tool(
        "read_cells",
        "Cells of a workbook's sheet: the value that was last calculated, and the formula where there is one.",
        {
            "type": "object",
            "properties": {
                "document": DOCUMENT,
                "sheet": {
                    "type": ["string", "integer"],
                    "maxLength": 255,
                    "minimum": 1,
                    "maximum": 100_000,
                    "description": "Its name or number.",
                    "examples": [1, "Sheet1"],
                },
                "range": {"type": "string", "maxLength": 30, "examples": ["A1:C10", "B2"]},
            },
            "required": ["document", "sheet", "range"],
        },
    ),
    Tool(
        "calculate",
        "Exact arithmetic: + - * / **, brackets, %, abs, avg, max, min, percent(part, whole), round(x, places), sum. "
        "Write -1577 for (1,577).",
        {
            "type": "object",
            "properties": {"expression": {"type": "string", "maxLength": 1000, "examples": ["1,577 - 1,373", "2/3"]}},
            "required": ["expression"],
        },
    ),
    Tool(
        "submit",
        "Hand in the answer and end the episode. It must fit the answer's schema exactly, or it counts as wrong.",
        {
            "type": "object",
            "properties": {
                "answer": {"description": "An object that fits the answer's schema."},
                "citations": {
                    "type": "array",
                    "maxItems": 100,
                    "description": "The pages that hold the evidence.",
                    "items": {
                        "type": "object",
                        "properties": {"document": DOCUMENT, "page": PAGE},
                        "required": ["document", "page"],
                        "additionalProperties": False,
                    },
                },
            },
        },
    ),
)
