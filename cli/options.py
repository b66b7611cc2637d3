"""Options that several commands share, and what they come to: a function and its arguments."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .failures import UsageError

if TYPE_CHECKING:
    from .expression import Expression
    from .inputs import Inputs
    from .target import Target

HOW_FILES_ARE_READ = """\
FILE is imported, with its folder first on sys.path: its top level runs, except for what is under
if __name__ == "__main__". FUNC may be dotted: Class.method.
"""

TYPES = """\
types:

  f64 f64[n,3] f64[n+1]        a number or array: f16 bf16 f32 f64 c64 c128 i8..i64 u8..u64 bool
  int float complex            a Python number
  (f64, f64[n]) [f64] {w: f64[n], b: f64}
                               a tuple, list or dictionary, nested as you like
  'relu' 3                     a value that is known beforehand, as in kind: 'relu'

An argument with a default and no type is also known beforehand. Annotations of the function count:
def loss(w: "f64[d]"). Any other argument is taken as f64.
"""


@dataclass(frozen=True)
class Question:
    """What a command is asked: a function, its arguments, and the names to differentiate for."""

    target: Target
    inputs: Inputs
    wrt: tuple[str, ...]


def add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="FILE.py:FUNC", help="the function, in a file that is imported"
    )


def add_expression(parser: argparse.ArgumentParser) -> None:
    """EXPR FILE.py"""
    parser.add_argument(
        "expression", metavar="EXPR", help='transformations of a function, as in "vmap(grad(loss))"'
    )
    parser.add_argument("file", metavar="FILE.py", help="the file of the function, which is imported")


def add_question(parser: argparse.ArgumentParser) -> None:
    """FILE.py:FUNC --wrt … [--types … | --example …]"""
    add_target(parser)
    parser.add_argument(
        "--wrt",
        metavar="NAMES",
        default="",
        help="the arguments to differentiate, as in w,b (default: all floating point ones)",
    )
    add_inputs(parser)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """[--types … | --example …]"""
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--types",
        metavar="TYPES",
        default="",
        help='types of the arguments, as in "w: f64[d], x: f64[n,d]"',
    )
    given.add_argument(
        "--example",
        metavar="FUNC",
        help="a function in FILE, without arguments, that returns a tuple of arguments",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="OUT.py", help="the file to write (default: to the terminal)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite OUT.py if it exists")


@contextlib.contextmanager
def asked(options: argparse.Namespace, differentiates: bool = True) -> Iterator[Question]:
    """The question in the options; the file's folder is on `sys.path` until the `with` ends."""
    from .inputs import chosen
    from .target import opened

    with opened(options.target) as target:
        wrt = names_in(options.wrt)
        inputs = inputs_for(target, options, wrt)
        yield Question(target, inputs, chosen(inputs, wrt, target.name) if differentiates else ())


def inputs_for(target: Target, options: argparse.Namespace, wrt: tuple[str, ...]) -> Inputs:
    """The arguments of a function, from --example or from --types and what the function tells."""
    from .inputs import declared_inputs

    if options.example:
        return inputs_of_example(target, options.example)
    return declared_inputs(target.function, options.types, wrt)


@contextlib.contextmanager
def asked_about(expression: str, path: str, options: argparse.Namespace) -> Iterator[tuple[Question, Expression]]:
    """The question about an expression, and what that means."""
    from .expression import interpreted
    from .target import existing, opened_file

    if os.path.isfile(expression) and not os.path.isfile(path):
        raise UsageError(f"the expression must come before the file: write {shlex.quote(path)} {expression}")
    file = existing(path)
    with opened_file(file) as module:
        found = interpreted(expression, file, module)
        target = found.asked()
        yield Question(target, inputs_for(target, options, found.wrt()), ()), found


def inputs_of_example(target: Target, name: str) -> Inputs:
    from .inputs import example_inputs
    from .target import function_named, user_code

    example = function_named(target.module, name, target.file)
    with user_code(f"the example {name}() fails", target.file):
        found = example()
    return example_inputs(target.function, found)


def names_in(text: str) -> tuple[str, ...]:
    """``w, b`` as names."""
    names = tuple(name.strip() for name in text.split(",")) if text.strip() else ()
    if not all(name.isidentifier() for name in names):
        raise UsageError(f"--wrt: expected names of arguments as in w,b, got {text!r}")
    return names
