from ledger import report

LINES = ["paper;3;19.99", "courier;7;0.29"]


def test_total_row():
    assert report.render(LINES).splitlines()[-1].split() == ["total", "62.00"]


def test_split_row_adds_up():
    assert report.render(["fee;1;100.00"], 3).splitlines()[-1] == "split 3: 33.34, 33.33, 33.33"


def test_line_row():
    assert report.render(["pen;2;1.50"]).splitlines()[0].split() == ["pen", "2", "x", "1.50", "3.00"]
