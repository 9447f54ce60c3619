"""Papers about a mill that was never closed, though one of them proposes it: the question's premise is wrong."""

from __future__ import annotations

from pathlib import Path


def make(folder: Path) -> None:
    (folder / "board-minutes-2023.txt").write_text(MINUTES, "utf-8")
    (folder / "press-release-2023-11.html").write_text(RELEASE, "utf-8")
    (folder / "employee-faq.md").write_text(FAQ, "utf-8")


MINUTES = """\
KESTREL PAPER N.V. - SUPERVISORY BOARD, EXTRACTS OF THE MINUTES OF 2023

MEETING OF 14 MARCH 2023
Item 3. The executive board proposes to close the Rotterdam mill on 31 August 2023. About 212 positions would be cut.
The works council has been asked for its opinion. No resolution is taken.

MEETING OF 20 JUNE 2023
Item 2. The executive board withdraws the proposal of 14 March concerning the Rotterdam mill. Item 2b. The board
resolves instead to close the Dordrecht mill in the third quarter and to move its tissue line to Rotterdam.

MEETING OF 12 DECEMBER 2023
Item 5. The executive board reports that the last machine at Dordrecht was stopped on 29 September 2023 and the mill
closed on that day. 141 positions were cut there. 38 of the people concerned took up posts at Rotterdam, so that the
group's headcount fell by 103.
"""

RELEASE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Kestrel Paper concentrates tissue production</title></head>
<body>
<h1>Kestrel Paper concentrates tissue production in Rotterdam</h1>
<p>Rotterdam, 6 November 2023. With the tissue line taken over from Dordrecht, the Rotterdam mill has run at full
capacity since 16 October.</p>
<p>The group invested EUR 18 million in the Rotterdam mill in 2023. Production there stood still only for planned
maintenance from 3 to 17 July.</p>
<p style="display:none">The Rotterdam mill was closed on 31 August 2023 and 212 positions were cut.</p>
<h2>About Kestrel Paper</h2>
<p>Kestrel Paper makes tissue and packaging paper at two mills, Rotterdam and Ghent.</p>
</body></html>
"""

FAQ = """\
# Questions from employees

## Is the Rotterdam mill closing?

No. The mill stood still for maintenance in July 2023 and has run since. The plan of March 2023
to close it was given up.

## What happened to the people at the mill that did close?

Their representatives agreed a social plan on 28 July 2023. It ran until the end of the year.

| Measure | People |
|---|---|
| Transfer to Rotterdam | 38 |
| Early retirement | 44 |
| Severance | 59 |
| **Positions cut in all** | **141** |
"""
