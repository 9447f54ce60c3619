"""How hidden tests reach the code under test: in child processes, never in the test's own.

import probe
assert probe.call("ledger.report:total", [1, 2]) == 3      # module:function, JSON in and out
assert probe.raises("ledger.report:total", None) == "ValueError"
done = probe.sh("./backup.sh src dst")                     # CompletedProcess with text
"""

import functools
import json
import os
import signal
import subprocess
import tempfile

WORKSPACE = "/workspace"
PYTHON = "/opt/tradeschool/bin/python3"
ENVIRONMENT = {
    "PATH": "/opt/tradeschool/bin:/usr/local/bin:/usr/bin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
}
CALL = """
import importlib, json, os, sys
out = os.dup(1)
os.dup2(2, 1)
sys.path.insert(0, os.getcwd())
target, arguments, keywords = json.loads(sys.stdin.read())
module, _, name = target.partition(":")
try:
    function = importlib.import_module(module)
    for part in name.split("."):
        function = getattr(function, part)
    answer = {"value": function(*arguments, **keywords)}
except Exception as error:
    answer = {"error": type(error).__name__, "message": str(error)}
os.write(out, json.dumps(answer, default=str).encode())
"""


class ProbeError(AssertionError):
    """The code under test raised, crashed, hung, or answered with something that is not JSON."""


def execute(argv, cwd=WORKSPACE, stdin="", timeout_s=30, env=None):
    """Run a program to its end and kill what it leaves behind. Output is text, invalid UTF-8 replaced."""
    child = subprocess.Popen(
        argv,
        cwd=cwd,
        env={**ENVIRONMENT, **(env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        out, err = child.communicate(stdin, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise ProbeError(f"{argv[0]} did not end within {timeout_s} s") from None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    return subprocess.CompletedProcess(argv, child.returncode, out, err)


def sh(command, cwd=WORKSPACE, stdin="", timeout_s=30, env=None):
    """Run a bash command line."""
    return execute(["bash", "-c", command], cwd, stdin, timeout_s, env)


def call(target, *arguments, cwd=WORKSPACE, timeout_s=30, **keywords):
    """The JSON value of `module:function(*arguments, **keywords)`. Raises ProbeError when there is none."""
    answer = _ask(target, arguments, keywords, cwd, timeout_s)
    if "error" in answer:
        raise ProbeError(f"{target} raised {answer['error']}: {answer['message']}")
    return answer["value"]


def raises(target, *arguments, cwd=WORKSPACE, timeout_s=30, **keywords):
    """The name of the exception that the call (or finding its function) raises. Raises ProbeError when it returns."""
    answer = _ask(target, arguments, keywords, cwd, timeout_s)
    if "error" not in answer:
        raise ProbeError(f"{target} returned {answer.get('value')!r}")
    return answer["error"]


def read(path):
    """A file's bytes; a link, a folder or a missing file is a ProbeError."""
    path = os.path.join(WORKSPACE, path)
    if os.path.islink(path) or not os.path.isfile(path):
        raise ProbeError(f"{path} is not a regular file")
    with open(path, "rb") as file:
        return file.read()


def tree(root, skip=(".git", "__pycache__")):
    """Path and bytes of each file below a folder, but for folders with a name in `skip`. A link is a ProbeError."""
    found = {}
    for base, folders, names in os.walk(os.path.join(WORKSPACE, root)):
        folders[:] = [name for name in folders if name not in skip]
        for name in names:
            path = os.path.join(base, name)
            found[os.path.relpath(path, os.path.join(WORKSPACE, root))] = read(path)
    return found


@functools.cache
def clone(repository, branch="main"):
    """The path of a fresh clone of a Git repository: its own settings, attributes and replacements stay behind."""
    target = os.path.join(tempfile.mkdtemp(), "clone")
    source = os.path.join(WORKSPACE, repository)
    command = ["git", "-c", "safe.directory=*", "clone", "-q", "--no-local", "--branch", branch, source, target]
    done = execute(command, cwd="/tmp")
    if done.returncode:
        raise ProbeError(f"{repository} cannot be cloned: {done.stderr.strip()[-300:]}")
    return target


def git(repository, *arguments):
    """What a git command says in a fresh clone of a repository. Raises ProbeError when it fails."""
    done = execute(["git", "--no-replace-objects", *arguments], cwd=clone(repository))
    if done.returncode:
        raise ProbeError(f"git {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _ask(target, arguments, keywords, cwd, timeout_s):
    done = execute([PYTHON, "-s", "-c", CALL], cwd, json.dumps([target, arguments, keywords]), timeout_s)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or not {"value", "error"} & set(answer):
        raise ProbeError(f"{target} gave no answer (exit {done.returncode}): {done.stderr.strip()[-300:]}")
    return answer
