"""From a question to a standalone file: what `grad`, `jvp` and `vjp` do, and `show` looks at."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

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
from transformer.transform.modes import Mode

from .failures import UsageError
from .modes import ModeOf
from .options import Question, asked


def emit(options: argparse.Namespace, mode_of: ModeOf | None, loops: bool = False) -> int:
    """Writes the transformed function to OUT or to stdout; with `loops`, as explicit loops for numba."""
    output = None if options.output in (None, "-") else Path(options.output)
    if output is not None:
        require_free(output, options.force)
    with asked(options, mode_of is not None) as question:
        if output is not None and output.exists() and output.samefile(question.target.file):
            raise UsageError(f"{output} is the file that is read; choose another name")
        mode = None if mode_of is None else mode_of(question.wrt)
        source = generated(question, mode, loops).source
    if output is None:
        sys.stdout.write(source)
    else:
        write(output, source, options.force)
    return 0


def generated(question: Question, mode: Mode | None, loops: bool = False) -> Emitted:
    """All stages for a question. Raises a located `TransformError`."""
    inputs = question.inputs
    target = question.target.function if mode is None else Transformed(question.target.function, mode)
    args, kwargs = inputs.values() if inputs.is_example else inputs.types()
    args += (None,) * extra_arguments(target)
    assumed = assumption(inputs.assumed)
    name = question.target.name.rpartition(".")[2]
    label = Label(name, tuple(f"{text}." for text in assumed), loops)
    try:
        if inputs.is_example:
            names = argument_names(question.target.function, len(args))
            return standalone_for_call(target, args, kwargs, names, label)
        return standalone_for_types(target, args, kwargs, label)
    except TransformError as error:
        for text in assumed:
            error.add_note(f"{text}; --types tells otherwise")
        raise


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
