import functools
import os
import tempfile

import probe

REPO = "/workspace/shop"
TIPS = {"a031de542ae1c9bd656c03f28b540e54889a0a69", "99598055fe91f755ca631ff6c81ddfab86e5ed0e"}


@functools.cache
def clone():
    # what is asked is asked of a fresh clone: the repository's own settings, attributes and replacements stay behind
    target = os.path.join(tempfile.mkdtemp(), "clone")
    done = probe.sh(f"git -c safe.directory='*' clone -q --no-local --branch main {REPO} {target}", cwd="/tmp")
    assert done.returncode == 0, done.stderr
    return target


def git(arguments):
    done = probe.sh(f"git --no-replace-objects {arguments}", cwd=clone())
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(root):
    found = {}
    for base, folders, names in os.walk(root):
        folders[:] = [folder for folder in folders if folder not in (".git", "__pycache__")]
        for name in names:
            path = os.path.join(base, name)
            assert not os.path.islink(path)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


def unit_price(*arguments, **keywords):
    return probe.call("shop.prices:unit_price", *arguments, cwd=REPO, **keywords)


def test_merge_is_committed_with_both_parents():
    merges = [line.split() for line in git("log --merges --format=%P origin/main").splitlines()]
    assert TIPS in [set(parents) for parents in merges]
    assert files(REPO) == files(clone())
    with open(f"{REPO}/.git/HEAD") as file:
        assert file.read().strip() == "ref: refs/heads/main"


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
    for name, content in files(clone()).items():
        for mark in (b"<<<<<<<", b"=======", b">>>>>>>"):
            assert not any(line.startswith(mark) for line in content.splitlines()), name


def test_callers_were_renamed():
    for name, content in files(clone()).items():
        assert b" price(" not in content and b"(price(" not in content and b"import price" not in content, name
    assert probe.raises("shop.prices:price", "pen", cwd=REPO) == "AttributeError"
