import functools
import os
import tempfile

import probe

REPO = "/workspace/service"
LIMITS = b"[limits]\nrequests = 250\nburst = 40\n; agreed with operations, ticket 481\nqueue = 16\n"
MAIN = "3ce347022b13b983850f3390a69323d08f9ddb29"
FIX = "57d0d2ddd12aa1325a9816e4c4dbf75fbcf77977"


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
        if base == root:
            folders.remove(".git")
        for name in names:
            path = os.path.join(base, name)
            assert not os.path.islink(path)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


def test_file_is_back_as_it_was_last():
    assert probe.read("service/config/limits.ini") == LIMITS


def test_file_is_committed_on_main():
    assert git("show origin/main:config/limits.ini").encode() == LIMITS


def test_lost_fix_is_on_a_branch():
    assert git("rev-parse origin/fix/retry").strip() == FIX


def test_history_was_not_rewritten():
    assert MAIN in git("rev-list --first-parent origin/main").split()


def test_working_tree_is_clean():
    assert files(REPO) == files(clone())
    with open(f"{REPO}/.git/HEAD") as file:
        assert file.read().strip() == "ref: refs/heads/main"
