"""`transformer check`: what is unsupported, and the derivatives against differences."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import TYPE_CHECKING, Any

from .failures import UsageError
from .options import Question, add_question, asked

if TYPE_CHECKING:
    from transformer.checking import Figure
    from transformer.differences import Point

    from .inputs import Inputs

NAME = "check"
SUMMARY = "report what is unsupported, and compare the derivative with finite differences"
DESCRIPTION = """\
Reports what in a function cannot be differentiated, and where. If everything can, compares the
derivative with respect to each argument with finite differences along a random direction, in
reverse and forward mode. This runs the function, at the arguments of --example or at random values
of the declared types. The exit code is 1 if something is unsupported or a number is wrong.
"""
EXAMPLES = r"""At random values, with 5 rows and 3 columns:

  transformer check model.py:loss --sizes n=5,d=3 \
      --types "w: f64[d], b: f64, x: f64[n,d], y: f64[n]"

At the arguments that example() in model.py returns, with respect to w only:

  transformer check model.py:loss --wrt w --example example
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_question(parser)
    parser.add_argument(
        "--sizes",
        metavar="SIZES",
        default="",
        help="sizes of the random values, as in n=5,d=3 (default: small and different)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the random values (default: 0)")


def run(options: argparse.Namespace) -> int:
    with asked(options) as question:
        lines = [
            f"{question.target.name} in {question.target.file}",
            *(f"  {argument}" for argument in question.inputs.arguments),
            "",
        ]
        sys.stdout.write("\n".join(lines) + "\n")
        return 1 if report_unsupported(question) else report_figures(question, options)


def report_unsupported(question: Question) -> bool:
    """Prints what forward and reverse mode refuse; whether they do."""
    refusals: dict[str, list[str]] = {}
    for name, mode in (("vjp", "reverse"), ("jvp", "forward")):
        refusal = refusal_of(question, name)
        if refusal:
            refusals.setdefault(refusal, []).append(mode)
    for refusal, modes in refusals.items():
        sys.stdout.write(f"not supported in {' and '.join(modes)} mode: {refusal}\n")
    if not refusals:
        sys.stdout.write("supported in reverse and forward mode\n")
    return bool(refusals)


def refusal_of(question: Question, mode: str) -> str | None:
    from transformer.core.errors import TransformError

    from .emission import derived, generated
    from .failures import told
    from .modes import MODES

    try:
        generated(question, derived(question, MODES[mode]))
    except TransformError as error:
        return told(error)
    return None


def report_figures(question: Question, options: argparse.Namespace) -> int:
    from transformer.checking import figures

    inputs, where = at_values(question, options)
    sys.stdout.write(f"{where}\n\n")
    places = places_of(inputs, question.wrt)
    found = figures(point_of(question, inputs), places, options.seed)
    sys.stdout.write(table(found))
    return 0 if all(figure.agrees for figure in found) else 1


def at_values(question: Question, options: argparse.Namespace) -> tuple[Inputs, str]:
    """The inputs with values at which the function is finite, and words about them."""
    from .values import RANGES, is_finite, sizes_for, with_values

    inputs = question.inputs
    if inputs.is_example:
        value_at(question, inputs)
        return inputs, "at the values of the example"
    sizes = sizes_for(inputs, options.sizes)
    for words, limits in RANGES.items():
        filled = with_values(inputs, sizes, limits, options.seed)
        if is_finite(value_at(question, filled)):
            shown = "".join(f", {dim} = {size}" for dim, size in sizes.items())
            return filled, f"at random values, {words} (seed {options.seed}){shown}"
    raise UsageError(f"{question.target.name} is not finite at random inputs; pass an --example")


def value_at(question: Question, inputs: Inputs) -> Any:
    from .target import user_code

    failure = (
        f"{question.target.name} itself fails at these values "
        "(choose others with --sizes or --example)"
    )
    with user_code(failure, question.target.file), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return point_of(question, inputs).value()


def point_of(question: Question, inputs: Inputs) -> Point:
    from transformer.differences import Point

    return Point(question.target.function, *inputs.values())


def places_of(inputs: Inputs, wrt: tuple[str, ...]) -> dict[str, int | str]:
    """Where each argument in `wrt` is: a position or a keyword."""
    found: dict[str, dict[str, int | str]] = {}
    position = 0
    for argument in inputs.arguments:
        name = argument.name
        if argument.is_keyword:
            found[name] = {name: name}
        elif argument.is_spread:
            found[name] = {f"{name}[{k}]": position + k for k in range(len(argument.type))}
        else:
            found[name] = {name: position}
        position += 0 if argument.is_keyword else len(found[name])
    return {name: where for chosen in wrt for name, where in found[chosen].items()}


def table(figures: list[Figure]) -> str:
    """The figures as a table, one argument a line."""
    rows = [["along a direction of", "reverse mode", "forward mode", "differences", "off by", ""]]
    for figure in figures:
        numbers = [f"{n:.10g}" for n in (figure.reverse, figure.forward, figure.difference)]
        verdict = "ok" if figure.agrees else f"WRONG, allowed {figure.allowed:.1e}"
        rows.append([figure.name, *numbers, f"{figure.error:.1e}", verdict])
    first, *others, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [
        [name.ljust(first), *map(str.rjust, cells, others), verdict]
        for name, *cells, verdict in rows
    ]
    return "\n".join("  ".join(line).rstrip() for line in lines) + "\n"
