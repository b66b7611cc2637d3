"""From a question to a standalone file: what `grad`, `jvp` and `vjp` do, and `show` looks at."""

from __future__ import annotations

import argparse
import ast
import builtins
import keyword
import sys
from pathlib import Path
from typing import Any

from transformer.api import Transformed, argument_names
from transformer.core.errors import TransformError
from transformer.pipeline import Product
from transformer.run.files import write_new
from transformer.run.generating import (
    Emitted,
    Label,
    extra_arguments,
    standalone_for_call,
    standalone_for_types,
)
from transformer.transform.derived import innermost

from .expression import Expression, Extra
from .failures import UsageError
from .inputs import Inputs
from .modes import MODES, ModeOf
from .options import Question, asked, asked_about
from .target import Target


def emit(options: argparse.Namespace, mode_of: ModeOf | None, product: Product = Product.SOURCE) -> int:
    """Writes the transformed function to OUT or to stdout."""
    output = free_output(options)
    with asked(options, mode_of is not None) as question:
        require_other(output, question.target.file)
        source = generated(question, derived(question, mode_of), product).source
    return delivered(source, output, options.force)


def emit_expression(options: argparse.Namespace) -> int:
    """Writes what an expression means: as explicit loops where the outermost transformation is `jit`."""
    require_name(options.name)
    output = free_output(options)
    with asked_about(options.expression, options.file, options) as (question, expression):
        require_other(output, question.target.file)
        source = generated_for(question, expression, options.name).source
    require_alone(options.name, source)
    return delivered(source, output, options.force)


def free_output(options: argparse.Namespace) -> Path | None:
    """The file to write, None for stdout. Raises before any work is done for one that could not be written."""
    output = None if options.output in (None, "-") else Path(options.output)
    if output is not None:
        require_free(output, options.force)
    return output


def require_other(output: Path | None, file: Path) -> None:
    if output is not None and output.exists() and output.samefile(file):
        raise UsageError(f"{output} is the input file; choose another name")


def require_name(name: str | None) -> None:
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise UsageError(f"--name: {name!r} is not a valid function name")


def require_alone(name: str | None, source: str) -> None:
    """Raises where a file has another thing of this name, such as a module that it imports."""
    found = [each for stmt in ast.parse(source).body for each in names_bound(stmt)]
    if name is not None and found.count(name) > 1 or hasattr(builtins, name or ""):
        raise UsageError(f"--name: {name} is already used in the file; choose another name")


def names_bound(stmt: ast.stmt) -> list[str]:
    """What a statement at the top of a file gives a name."""
    if isinstance(stmt, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in stmt.names]
    if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
        return [stmt.name]
    return [node.id for node in ast.walk(stmt) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def delivered(source: str, output: Path | None, force: bool) -> int:
    """Writes a source to a file, or to stdout."""
    if output is None:
        sys.stdout.write(source)
    else:
        write(output, source, force)
    return 0


def derived(question: Question, mode_of: ModeOf | None) -> Any:
    """The function of a question, transformed."""
    function = question.target.function
    return function if mode_of is None else Transformed(function, mode_of(question.wrt))


def generated_for(question: Question, expression: Expression, called: str | None = None) -> Emitted:
    """All stages of an expression. Raises a located `TransformError`, which says what part of it is at fault."""
    try:
        product = Product.LOOPS if expression.is_compiled else Product.SOURCE
        return generated(question, expression.whole, product, called, expression.extras)
    except TransformError as error:
        expression.explain(error)
        raise


def generated_by(options: argparse.Namespace, question: Question) -> Emitted:
    """All stages for a question, as --mode and --loops say."""
    product = Product.LOOPS if options.loops else Product.SOURCE
    return generated(question, derived(question, MODES[options.mode or "grad"]), product)


def generated(question: Question, target: Any, product: Product = Product.SOURCE, called: str | None = None,
              extras: tuple[Extra, ...] = ()) -> Emitted:
    """All stages for a question, for its function or a transformation of that. Raises a located `TransformError`."""
    inputs = question.inputs
    args, kwargs = inputs.values() if inputs.is_example else inputs.types()
    args += behind(extras, inputs) if extras else (None,) * extra_arguments(target)
    assumed = assumption(inputs.assumed)
    label = Label(own_name(question.target), tuple(f"{text}." for text in assumed), product, called)
    try:
        if inputs.is_example:
            names = argument_names(question.target.function, len(args))
            return standalone_for_call(target, args, kwargs, names, label)
        return standalone_for_types(target, args, kwargs, label)
    except TransformError as error:
        for text in assumed:
            error.add_note(f"{text}; --types tells otherwise")
        raise


def own_name(target: Target) -> str:
    """What the user's function is called, without what its file has done to it."""
    inner = innermost(target.function)
    if inner is not target.function and hasattr(inner, "__name__"):
        return str(inner.__name__)
    return target.name.rpartition(".")[2]


def behind(extras: tuple[Extra, ...], inputs: Inputs) -> tuple[Any, ...]:
    """The arguments that transformations add and that are not given: a tangent is like what it is one of, the type
    of a cotangent follows from the result (None)."""
    given = {argument.name: argument for argument in inputs.arguments}
    for extra in extras:
        if extra.has_lanes and extra.name not in given:
            raise UsageError(f"{extra.name} is mapped but has no type; pass its type with the mapped axis, as in "
                             f'--types "{extra.name}: f64[k,n]", or pass it in the --example')
    found = [given.get(extra.of or "") for extra in extras if extra.name not in given]
    return tuple(one and (one.value if inputs.is_example else one.type) for one in found)


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
