"""From a question to a standalone file: what `grad`, `jvp` and `vjp` do, and `show` looks at."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transformer.api import Transformed, argument_names
from transformer.core.errors import TransformError
from transformer.run.files import write_new
from transformer.run.generating import (
    Emitted,
    Label,
    extra_arguments,
    standalone_for_call,
    standalone_for_types,
)

from .expression import Expression, Extra
from .failures import UsageError
from .inputs import Inputs
from .modes import ModeOf
from .options import Question, asked, asked_about


def emit(options: argparse.Namespace, mode_of: ModeOf | None, loops: bool = False) -> int:
    """Writes the transformed function to OUT or to stdout; with `loops`, as explicit loops for numba."""
    def answer() -> Iterator[tuple[Path, str]]:
        with asked(options, mode_of is not None) as question:
            yield question.target.file, ""
            yield question.target.file, generated(question, derived(question, mode_of), loops).source

    return deliver(answer(), options)


def emit_expression(options: argparse.Namespace) -> int:
    """Writes what an expression means: as explicit loops where the outermost transformation is `jit`."""
    def answer() -> Iterator[tuple[Path, str]]:
        with asked_about(options.expression, options.file, options) as (question, expression):
            yield question.target.file, ""
            yield question.target.file, generated_for(question, expression, options.name).source

    return deliver(answer(), options)


def deliver(answer: Iterator[tuple[Path, str]], options: argparse.Namespace) -> int:
    """Writes a source to OUT or to stdout. `answer` gives the file that is read, and then, with it, the source, so that
    what cannot be written is refused before the source is made."""
    output = None if options.output in (None, "-") else Path(options.output)
    if output is not None:
        require_free(output, options.force)
    for file, source in answer:
        if output is not None and output.exists() and output.samefile(file):
            raise UsageError(f"{output} is the file that is read; choose another name")
    if output is None:
        sys.stdout.write(source)
    else:
        write(output, source, options.force)
    return 0


def derived(question: Question, mode_of: ModeOf | None) -> Any:
    """The function of a question, transformed."""
    function = question.target.function
    return function if mode_of is None else Transformed(function, mode_of(question.wrt))


def generated_for(question: Question, expression: Expression, called: str | None = None) -> Emitted:
    """All stages of an expression. Raises a located `TransformError`, which says what part of it is at fault."""
    try:
        return generated(question, expression.whole, expression.is_compiled, called, expression.extras)
    except TransformError as error:
        expression.explain(error)
        raise


def generated(question: Question, target: Any, loops: bool = False, called: str | None = None,
              extras: tuple[Extra, ...] = ()) -> Emitted:
    """All stages for a question, for its function or a transformation of that. Raises a located `TransformError`."""
    inputs = question.inputs
    args, kwargs = inputs.values() if inputs.is_example else inputs.types()
    args += missing(extras, inputs, extra_arguments(target))
    assumed = assumption(inputs.assumed)
    name = question.target.name.rpartition(".")[2]
    label = Label(name, tuple(f"{text}." for text in assumed), loops, called)
    try:
        if inputs.is_example:
            names = argument_names(question.target.function, len(args))
            return standalone_for_call(target, args, kwargs, names, label)
        return standalone_for_types(target, args, kwargs, label)
    except TransformError as error:
        for text in assumed:
            error.add_note(f"{text}; --types tells otherwise")
        raise


def missing(extras: tuple[Extra, ...], inputs: Inputs, count: int) -> tuple[None, ...]:
    """Places for the arguments that transformations add, which are given nothing: their types follow from others."""
    given = {argument.name for argument in inputs.arguments}
    for extra in extras:
        if extra.has_lanes and extra.name not in given:
            raise UsageError(f"{extra.name}, which vmap maps, has no type; say it with its axis of lanes, as in "
                             f'--types "{extra.name}: f64[k,n]", or give it in the --example')
    return (None,) * (count - sum(extra.name in given for extra in extras))


def assumption(names: tuple[str, ...]) -> list[str]:
    """A sentence about the arguments that nobody gave a type, if there are any."""
    has, is_taken = ("has", "is") if len(names) == 1 else ("have", "are")
    return [f"{', '.join(names)} {has} no type and {is_taken} taken as f64"] if names else []


def require_free(output: Path, force: bool) -> None:
    """Raises before any work is done for a file that could not be written."""
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder {output.parent}")
    if output.is_dir():
        raise UsageError(f"{output} is a folder")
    if output.is_file() and not force:
        raise UsageError(f"{output} exists; --force overwrites it")


def write(output: Path, source: str, force: bool) -> None:
    try:
        write_new(output, source, force)
    except FileExistsError:
        raise UsageError(f"{output} exists; --force overwrites it") from None
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from None
