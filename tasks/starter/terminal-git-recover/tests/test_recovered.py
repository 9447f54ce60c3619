import probe

REPO = "service"
LIMITS = b"[limits]\nrequests = 250\nburst = 40\n; agreed with operations, ticket 481\nqueue = 16\n"
MAIN = "3ce347022b13b983850f3390a69323d08f9ddb29"
FIX = "57d0d2ddd12aa1325a9816e4c4dbf75fbcf77977"


def test_file_is_back_as_it_was_last():
    assert probe.read("service/config/limits.ini") == LIMITS


def test_file_is_committed_on_main():
    assert probe.git(REPO, "show", "origin/main:config/limits.ini").encode() == LIMITS


def test_lost_fix_is_on_a_branch():
    assert probe.git(REPO, "rev-parse", "origin/fix/retry").strip() == FIX


def test_history_was_not_rewritten():
    assert MAIN in probe.git(REPO, "rev-list", "--first-parent", "origin/main").split()


def test_working_tree_is_clean():
    assert probe.tree(REPO) == probe.tree(probe.clone(REPO))
    assert probe.read("service/.git/HEAD").strip() == b"ref: refs/heads/main"
