"""The command line: a table of commands, and what becomes of errors.

Exit codes: 0 done, 1 `check` found something, 2 an error in what was given, 3 an error of ours.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from . import bench, check, diff, emit, grad, jit, jvp, show, vjp
from .failures import UsageError, told
from .options import HOW_FILES_ARE_READ, TYPES

COMMANDS: tuple[ModuleType, ...] = (grad, jvp, vjp, jit, emit, show, diff, check, bench)

DESCRIPTION = r"""Writes derivatives and compiled forms of NumPy programs as readable Python source.

  transformer grad model.py:loss --wrt w,b \
      --types "w: f64[d], b: f64, x: f64[n,d], y: f64[n]"
  transformer check model.py:loss --example example
"""
REPORT = "Please report it, with the function it is about; --debug shows where it happened."


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; errors go to stderr. Returns the exit code."""
    try:
        options = parser().parse_args(argv)
    except SystemExit as end:
        return int(end.code or 0)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python complains when it ends
        return 141
    except Exception as error:
        return failed(error, options.debug)


def failed(error: Exception, debug: bool) -> int:
    """Reports an error; the exit code tells whether it is about what was given, or ours."""
    from transformer.core.errors import TransformError

    from .colour import error_painter

    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, (TransformError, UsageError)):
        print(error_painter()(f"transformer: error: {told(error)}"), file=sys.stderr)
        return 2
    print(
        f"transformer: internal error: {type(error).__name__}: {error}\n{REPORT}", file=sys.stderr
    )
    return 3


def parser() -> argparse.ArgumentParser:
    """The parser of the command line, with one subparser for each command."""
    from transformer import __version__

    whole = argparse.ArgumentParser(
        prog="transformer",
        description=DESCRIPTION,
        epilog="transformer COMMAND --help explains a command, with examples.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"transformer {__version__}")
    commands = whole.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in COMMANDS:
        one = commands.add_parser(
            command.NAME,
            help=command.SUMMARY,
            description=command.DESCRIPTION,
            epilog=f"examples:\n\n{command.EXAMPLES}\n{TYPES}\n{HOW_FILES_ARE_READ}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(one)
        one.add_argument("--debug", action="store_true", help="show the traceback of an error")
        one.set_defaults(run=command.run)
    return whole


if __name__ == "__main__":
    sys.exit(main())
