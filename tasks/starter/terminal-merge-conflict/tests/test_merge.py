import probe

REPO = "/workspace/shop"
TIPS = {"a031de542ae1c9bd656c03f28b540e54889a0a69", "99598055fe91f755ca631ff6c81ddfab86e5ed0e"}


def unit_price(*arguments, **keywords):
    return probe.call("shop.prices:unit_price", *arguments, cwd=REPO, **keywords)


def test_merge_is_committed_with_both_parents():
    merges = [line.split() for line in probe.git(REPO, "log", "--merges", "--format=%P", "origin/main").splitlines()]
    assert TIPS in [set(parents) for parents in merges]
    assert probe.tree(REPO) == probe.tree(probe.clone(REPO))
    assert probe.read("shop/.git/HEAD").strip() == b"ref: refs/heads/main"


def test_currency_and_discount_work_together():
    assert unit_price("lamp") == "39.90"
    assert unit_price("lamp", "SEK") == "455.96"
    assert unit_price("lamp", "SEK", 15) == "387.56"
    # rounded once, half up, at the end: 1.15 x 0.90 = 1.035
    assert unit_price("pen", discount=10) == "1.04"
    assert unit_price("desk", currency="USD", discount=100) == "0.00"
    for discount in (-1, 101):
        assert probe.raises("shop.prices:unit_price", "pen", discount=discount, cwd=REPO) == "ValueError"
    assert probe.raises("shop.prices:unit_price", "pen", "XXX", cwd=REPO) == "KeyError"
    assert probe.call("shop.basket:total", ["pen", "pen", "lamp"], "SEK", 10, cwd=REPO) == "434.02"
    assert probe.call("shop.basket:total", [], cwd=REPO) == "0.00"


def test_no_conflict_marks_are_left():
    for name, content in probe.tree(probe.clone(REPO)).items():
        for mark in (b"<<<<<<<", b"=======", b">>>>>>>"):
            assert not any(line.startswith(mark) for line in content.splitlines()), name


def test_callers_were_renamed():
    for name, content in probe.tree(probe.clone(REPO)).items():
        assert b" price(" not in content and b"(price(" not in content and b"import price" not in content, name
    assert probe.raises("shop.prices:price", "pen", cwd=REPO) == "AttributeError"
