"""Files and texts with functions whose source is looked for."""

import ast
import linecache
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gast

from transformer.read.sources.source import find_source


def text_of(function: Any) -> str:
    return gast.unparse(find_source(function).tree).strip()


def segment(function: Any) -> str:
    """The characters that the places of the tree enclose."""
    found = find_source(function)
    return str(ast.get_source_segment("".join(found.lines), found.tree))


Names = dict[str, Any]
MakeModule = Callable[..., Names]


def modules_in(folder: Path) -> MakeModule:
    """A function that writes a file to the folder, runs it, and gives its names; bytes are written as they are."""
    counter = iter(range(100))

    def make(text: str | bytes, flags: int = 0) -> Names:
        path = folder / f"program{next(counter)}.py"
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        code = compile(path.read_bytes(), str(path), "exec", flags, dont_inherit=True)
        names: Names = {"__file__": str(path), "__name__": "program"}
        exec(code, names)
        return names

    return make


def edit(names: Names, old: str, new: str) -> None:
    path = Path(names["__file__"])
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new) + "\n# edited\n")


def registered(name: str, text: str, level: int = -1) -> Names:
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    names: Names = {}
    exec(compile(text, name, "exec", dont_inherit=True, optimize=level), names)
    return names
