"""`transformer diff`: two stages of a transformation side by side."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .failures import UsageError
from .options import add_inputs, asked, asked_about
from .show import add_colour, add_mode, stage_named

NAME = "diff"
SUMMARY = "show two stages of a transformation side by side"
DESCRIPTION = """\
Shows two stages of a function, or of an expression as for `transformer emit`, side by side in the
width of the terminal. Lines that differ have a | between them; lines on one side only have < or >.
The stages are those of `transformer show`: function, read, simplified, grad, 'grad, simplified',
source, and loops with --loops or jit.
"""
EXAMPLES = r"""A function and its gradient:

  transformer diff model.py:loss function source \
      --types "w: f64[d], b: f64, x: f64[n,d], y: f64[n]"

The gradient of a loss for one data set, and for k data sets:

  transformer diff "vmap(grad(loss), in_axes=(None, None, 0, 0))" model.py "grad, simplified" \
      "vmap, simplified" --types "w: f64[d], b: f64, x: f64[k,n,d], y: f64[k,n]"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        metavar="TARGET",
        nargs="+",
        help="a function, FILE.py:FUNC, or an expression and the file of its functions, EXPR FILE.py",
    )
    parser.add_argument("stages", metavar="STAGE", nargs=2, help="the stages to compare")
    add_mode(parser, None)
    parser.add_argument("--wrt", metavar="NAMES", default="", help="the arguments to differentiate, as in w,b")
    add_inputs(parser)
    parser.add_argument("--width", type=int, help="width in columns (default: that of the terminal)")
    add_colour(parser)


def run(options: argparse.Namespace) -> int:
    from .colour import is_wanted
    from .columns import side_by_side

    with stages(options) as found:
        texts = [stage_named(name, found, "") for name in options.stages]
    width = options.width or shutil.get_terminal_size((120, 24)).columns
    if width < NARROWEST:
        raise UsageError(f"--width: two columns need at least {NARROWEST}")
    left, right = (text.splitlines() for text in texts)
    sys.stdout.write(side_by_side(left, right, options.stages, width, is_wanted(options.color)))
    return 0


NARROWEST = 40


@contextmanager
def stages(options: argparse.Namespace) -> Iterator[dict[str, str]]:
    """The text of each stage, of a function or of an expression."""
    from .emission import generated_by, generated_for
    from .show import stages_of

    match options.words:
        case [target]:
            options.target = target
            with asked(options) as question:
                yield stages_of(question, generated_by(options, question))
        case [expression, file]:
            if options.mode or options.wrt or options.loops:
                raise UsageError("--mode, --wrt and --loops apply to FILE.py:FUNC; an expression specifies them itself")
            with asked_about(expression, file, options) as (question, found):
                yield stages_of(question, generated_for(question, found))
        case _:
            raise UsageError("expected FILE.py:FUNC STAGE STAGE, or EXPR FILE.py STAGE STAGE")
