"""`transformer show`: every stage between a function and its derivative."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .failures import UsageError, suggestion
from .options import Question, add_question, asked

if TYPE_CHECKING:
    from transformer.run.generating import Emitted

NAME = "show"
SUMMARY = "show every stage between a function and its derivative"
DESCRIPTION = """\
Shows the function as read, the result of each transformation, and the generated source. Coloured
on a terminal, unless NO_COLOR is set.
"""
EXAMPLES = r"""All stages of the gradient of a loss:

  transformer show model.py:loss --wrt w \
      --types "w: f64[d], b: f64, x: f64[n,d], y: f64[n]"

Only the source of a forward derivative, coloured even in a pipe:

  transformer show model.py:square --mode jvp --stage source --color always
"""
MODES = ("grad", "value_and_grad", "jvp", "vjp")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_question(parser)
    add_mode(parser, "grad")
    parser.add_argument("--stage", metavar="NAME", help="only this stage, without its heading")
    add_colour(parser)


def add_mode(parser: argparse.ArgumentParser, default: str | None) -> None:
    """[--mode MODE] [--loops]"""
    parser.add_argument(
        "--mode", choices=MODES, default=default, help="the transformation (default: grad)"
    )
    parser.add_argument(
        "--loops", action="store_true", help="continue to the explicit loops that numba compiles"
    )


def add_colour(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (default: on a terminal, unless NO_COLOR is set)",
    )


def run(options: argparse.Namespace) -> int:
    from .colour import painter
    from .emission import generated_by

    with asked(options) as question:
        stages = stages_of(question, generated_by(options, question))
    paint = painter(options.color)
    if options.stage is not None:
        sys.stdout.write(paint(stage_named(options.stage, stages)))
        return 0
    for name, text in stages.items():
        sys.stdout.write(
            f"{paint(f'# ---- {name} ' + '-' * (60 - len(name)))}\n{paint(text.rstrip())}\n\n"
        )
    return 0


def stages_of(question: Question, made: Emitted) -> dict[str, str]:
    """The function and what becomes of it, by name and in order."""
    return {"function": own_source(question), **made.stages}


def own_source(question: Question) -> str:
    """The user's function as it stands in the file."""
    import inspect

    try:
        return inspect.getsource(question.target.function)
    except (OSError, TypeError):
        return f"# {question.target.name} is not written in Python\n"


def stage_named(name: str, stages: dict[str, str], place: str = "--stage: ") -> str:
    if name not in stages:
        hint = suggestion(name, stages) or f"; there are {', '.join(map(repr, stages))}"
        raise UsageError(f"{place}no stage is called {name!r}{hint}")
    return stages[name].rstrip() + "\n"
