import probe

REPO = "/workspace/shop"
GIT = "git -c safe.directory='*' -c core.fsmonitor=false -c core.hooksPath=/dev/null"


def git(arguments):
    done = probe.sh(f"{GIT} {arguments}", cwd=REPO)
    assert done.returncode == 0, done.stderr
    return done.stdout


def unit_price(*arguments, **keywords):
    return probe.call("shop.prices:unit_price", *arguments, cwd=REPO, **keywords)


def test_merge_is_committed_with_both_parents():
    assert git("rev-parse --abbrev-ref HEAD").strip() == "main"
    merges = git("log --merges --format=%P main").splitlines()
    tips = {git(f"log -1 --format=%s {parent}").strip() for parent in merges[-1].split()}
    assert tips == {"Prices in other currencies", "Add discounts and baskets"}
    assert git("status --porcelain") == ""


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
    assert probe.sh("git -c safe.directory='*' grep -nE '^(<<<<<<<|=======|>>>>>>>)' HEAD", cwd=REPO).stdout == ""


def test_callers_were_renamed():
    assert probe.sh(r"grep -rnE '\bprice\(' shop --include=*.py", cwd=REPO).stdout == ""
    assert probe.raises("shop.prices:price", "pen", cwd=REPO) == "AttributeError"
