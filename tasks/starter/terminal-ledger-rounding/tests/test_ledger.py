import probe


def test_invoice_total_is_exact():
    assert probe.call("ledger.invoice:total", ["paper;3;19.99", "courier;7;0.29", "refund;-1;12.35"]) == 4965
    assert probe.call("ledger.money:parse", "1.15") == 115
    assert probe.call("ledger.money:parse", "90071992547409.93") == 9007199254740993
    assert probe.call("ledger.money:parse", "-4.35") == -435


def test_half_cents_round_to_even():
    assert [probe.call("ledger.money:parse", text) for text in ("1.005", "1.015", "-2.675", "0.004")] == [100, 102, -268, 0]


def test_split_parts_add_up():
    assert probe.call("ledger.money:split", 10000, 3) == [3334, 3333, 3333]
    assert probe.call("ledger.money:split", 2, 4) == [1, 1, 0, 0]
    for cents, parts in ((99999, 7), (1, 3), (0, 5), (10**17 + 1, 2)):
        shares = probe.call("ledger.money:split", cents, parts)
        assert len(shares) == parts and sum(shares) == cents and max(shares) - min(shares) <= 1


def test_negative_amounts_split():
    assert probe.call("ledger.money:split", -10000, 3) == [-3334, -3333, -3333]


def test_parsing_still_refuses_nonsense():
    for text in ("", "1,50", "1.2.3", "abc", "nan", "1e3", "--1"):
        assert probe.raises("ledger.money:parse", text) == "ValueError"
    assert probe.raises("ledger.money:split", 100, 0) == "ValueError"
    assert probe.raises("ledger.invoice:read_line", "paper;3") == "ValueError"


def test_report_layout_is_unchanged():
    text = probe.call("ledger.report:render", ["pen;2;1.50", "", "ink;1;7.25"])
    assert text == (
        "pen            2 x       1.50        3.00\n"
        "ink            1 x       7.25        7.25\n"
        "total                                 10.25\n"
    ).replace("total                                 10.25", "total".ljust(31) + "10.25".rjust(12))
    assert probe.call("ledger.report:render", ["fee;1;9.00"], 3).endswith("\nsplit 3: 3.00, 3.00, 3.00\n")


def test_money_formats():
    assert probe.call("ledger.money:show", -5) == "-0.05"
    assert probe.call("ledger.money:show", 123456) == "1234.56"
