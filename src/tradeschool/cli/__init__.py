"""The `tradeschool` command. Each command's file parses, calls and prints.

Exit codes: 0 done (for `run`: every episode valid), 1 something is missing (`doctor`) or a reward below `--fail-under`,
2 wrong usage, a broken task or no sandbox, 3 some episodes invalid, 130 interrupted.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

import typer

from tradeschool.cli.doctor import doctor
from tradeschool.cli.run import run
from tradeschool.cli.setup import setup
from tradeschool.cli.tasks import tasks
from tradeschool.cli.version import version
from tradeschool.errors import TradeschoolError

app = typer.Typer(
    name="tradeschool",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _top(context: typer.Context) -> None:
    """Agents learn three trades by doing them: terminal, Blender, documents."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(run)
app.add_typer(tasks, name="tasks")
app.command()(doctor)
app.command()(setup)
app.command()(version)

# typer brings its own click, or uses the installed one, by its version; this is the base of either's errors
_ClickException: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit. Every error that is not a bug of ours is one line on standard error."""
    try:
        code = app(args=arguments, prog_name="tradeschool", standalone_mode=False)
    except TradeschoolError as error:
        code = _complain(str(error))
    except _ClickException as error:
        context = getattr(error, "ctx", None)
        where = f" See: {context.command_path} --help" if context else ""
        said = getattr(error, "format_message", error.__str__)()
        code = _complain(f"{said}{'' if said.endswith(('.', '?')) else '.'}{where}")
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        # the reader of our output has gone; Python would complain again as it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except subprocess.CalledProcessError as error:
        code = _complain(f"`{shlex.join(map(str, error.cmd))}` failed with exit code {error.returncode}.")
    except OSError as error:
        code = _complain(f"{error.filename or 'the system'}: {error.strerror or error}.")
    if code == 130:  # typer, too, makes this of a KeyboardInterrupt
        print("tradeschool: interrupted.", file=sys.stderr)
    sys.exit(code or 0)


def _complain(message: str) -> int:
    print(f"tradeschool: {' '.join(message.split())}", file=sys.stderr)
    return 2
