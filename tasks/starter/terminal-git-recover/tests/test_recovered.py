import probe

REPO = "/workspace/service"
GIT = "git -c safe.directory='*' -c core.fsmonitor=false -c core.hooksPath=/dev/null"
LIMITS = b"[limits]\nrequests = 250\nburst = 40\n; agreed with operations, ticket 481\nqueue = 16\n"
FIX = (
    "def call(send, request):\n    for attempt in range(3):\n        try:\n            return send(request)\n"
    "        except ConnectionError:\n            if attempt == 2:\n                raise\n"
)


def git(arguments):
    done = probe.sh(f"{GIT} {arguments}", cwd=REPO)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_file_is_back_as_it_was_last():
    assert probe.read("service/config/limits.ini") == LIMITS


def test_file_is_committed_on_main():
    assert git("show main:config/limits.ini").encode() == LIMITS


def test_lost_fix_is_on_a_branch():
    assert git("log -1 --format=%s%n%an%n%at fix/retry").split("\n")[:3] == [
        "Retry three times before giving up",
        "Rosa Lindqvist",
        "1717414400",
    ]
    assert git("show fix/retry:src/client.py") == FIX
    assert git("log -1 --format=%s fix/retry~1").strip() == "Add a client"


def test_history_was_not_rewritten():
    subjects = git("log --first-parent --reverse --format=%s main").splitlines()
    assert subjects[:5] == [
        "Start the gateway",
        "Raise the limits",
        "Add a client",
        "Tidy the tree and add a Makefile",
        "Add a health check",
    ]
    dates = git("log --first-parent --reverse --format=%ct main").split()
    assert dates[:5] == ["1717403600", "1717407200", "1717410800", "1717418000", "1717421600"]


def test_working_tree_is_clean():
    assert git("status --porcelain") == ""
    assert git("rev-parse --abbrev-ref HEAD").strip() == "main"
