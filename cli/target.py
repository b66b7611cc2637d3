"""FILE.py:FUNC: importing a file by its path, and finding a function in it.

The folder of the file is first on `sys.path` meanwhile, as when Python runs the file, so that it
can import its neighbours; what stands under ``if __name__ == "__main__"`` does not run. What the
file prints goes to stderr, since stdout may be the generated source.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from .failures import UsageError, suggestion


@dataclass(frozen=True)
class Target:
    """A function that was found: `name` is dotted for what is inside a class or an object."""

    file: Path
    name: str
    module: ModuleType
    function: Callable[..., Any]


@contextlib.contextmanager
def opened(given: str) -> Iterator[Target]:
    """The function that FILE.py:FUNC names. Raises `UsageError` where there is none."""
    file, name = split(given)
    with opened_file(file) as module:
        yield Target(file, name, module, function_named(module, name, file))


@contextlib.contextmanager
def opened_file(file: Path) -> Iterator[ModuleType]:
    """The module that a file makes, with its folder on `sys.path`."""
    with on_path(file.parent.resolve()):
        yield loaded(file)


def split(given: str) -> tuple[Path, str]:
    """The file and the name in FILE.py:FUNC."""
    path, colon, name = given.rpartition(":")
    if not colon and Path(given).is_file():
        names = ", ".join(function_names(loaded(Path(given)))) or "none"
        raise UsageError(f"which function of {given}? It has: {names}. Write {given}:FUNC")
    if not colon or not path or not name:
        raise UsageError(f"expected FILE.py:FUNC, got {given!r}")
    return existing(path), name


def existing(path: str) -> Path:
    """A file that is there."""
    file = Path(path)
    if file.is_dir():
        raise UsageError(f"{path} is a folder, not a Python file")
    if not file.exists():
        raise UsageError(f"there is no file {path}" + neighbours(file))
    return file


def neighbours(file: Path) -> str:
    if not file.parent.is_dir():
        return ""
    return suggestion(file.name, [path.name for path in file.parent.glob("*.py")])


@contextlib.contextmanager
def on_path(*folders: Path) -> Iterator[None]:
    before = list(sys.path)
    sys.path[:0] = [str(folder) for folder in folders]
    try:
        yield
    finally:
        sys.path[:] = before


def loaded(file: Path) -> ModuleType:
    """The module that a file makes. Raises `UsageError` with the place where its import fails."""
    root, name = module_name(file)
    loader = SourceFileLoader(name, os.path.abspath(file))
    spec = importlib.util.spec_from_file_location(name, loader.path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    with user_code(f"{file} cannot be imported", file), on_path(root):
        if "." in name:
            importlib.import_module(name.rpartition(".")[0])
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return module


def module_name(file: Path) -> tuple[Path, str]:
    """The folder to import a file from, and its name there: dotted for a file of a package."""
    folder, parts = file.resolve().parent, [file.stem]
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        folder, parts = folder.parent, [folder.name, *parts]
    name = ".".join(parts)
    known = getattr(sys.modules.get(name), "__file__", None)
    taken = name in sys.modules and (known is None or not os.path.samefile(known, file))
    return folder, f"{name}_from_file" if taken or parts[0] == "transformer" else name


@contextlib.contextmanager
def user_code(failure: str, file: Path) -> Iterator[None]:
    """Runs code of the user: it prints to stderr, and its errors are theirs, not ours."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"{failure}:{told(error, file)}") from error


def told(error: BaseException, file: Path) -> str:
    """An error with the places it came through, from the user's file on."""
    lines = traceback.format_exception_only(error)
    if isinstance(error, SyntaxError):
        return "\n" + "".join(lines).rstrip("\n")
    if isinstance(error, SystemExit):
        lines = [f"it ends Python (SystemExit: {error.code})\n"]
    frames = traceback.extract_tb(error.__traceback__)
    path = os.path.abspath(file)
    first = next((k for k, frame in enumerate(frames) if frame.filename == path), len(frames))
    return " " + "".join([*lines, *traceback.format_list(frames[first:])]).rstrip("\n")


def function_named(module: ModuleType, name: str, file: Path) -> Callable[..., Any]:
    """The function with a name, dotted where it is inside a class or an object."""
    found: Any = module
    for k, part in enumerate(name.split(".")):
        if not hasattr(found, part):
            where = ".".join([str(file), *name.split(".")[:k]]) if k else str(file)
            known = function_names(found) if k == 0 else [n for n in dir(found) if n[0] != "_"]
            hint = suggestion(part, known) or (f"; it has {', '.join(known[:12])}" if known else "")
            raise UsageError(f"there is no function {part} in {where}{hint}")
        found = getattr(found, part)
    if isinstance(found, type) or not callable(found):
        kind = "a class" if isinstance(found, type) else f"a {type(found).__name__}"
        raise UsageError(f"{name} in {file} is {kind}, not a function")
    return found


def function_names(module: Any) -> list[str]:
    """The functions a module defines itself, then those it imports."""

    def is_own(name: str) -> bool:
        return getattr(getattr(module, name), "__module__", None) == module.__name__

    names = [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and callable(value) and not isinstance(value, type)
    ]
    return sorted(names, key=lambda name: not is_own(name))
