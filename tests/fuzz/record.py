"""What failed, as programs of the corpus."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import numpy as np

from .campaign import Found
from .program import Program

CORPUS = Path(__file__).parent.parent / "corpus" / "fuzzed.py"
END = "\nPROGRAMS = [\n"


def append(found: list[Found], path: Path = CORPUS) -> None:
    """Adds programs to the file, each under a name of its own."""
    for each in found:
        text = path.read_text()
        name = name_of(each.program)
        if name not in text:
            before, entries = text.split(END)
            definition = renamed(each.program, name)
            if "math." in definition and "import math" not in before:
                before = before.replace("import numpy", "import math\n\nimport numpy", 1)
            path.write_text(f"{before}{definition}\n\n{END}{entry(each.program, name)}{entries}")


def name_of(program: Program) -> str:
    return "fuzzed_" + hashlib.sha256(program.text.encode()).hexdigest()[:8]


def renamed(program: Program, name: str) -> str:
    """The source with names of functions that nothing else in the file has."""
    tree = ast.parse(program.source)
    names = {node.name: f"{name}_{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef)}
    names["program"] = name
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node in tree.body:
            node.name = names[node.name]
        elif isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return "\n\n".join("\n" + ast.unparse(node) for node in tree.body)


def entry(program: Program, name: str) -> str:
    values = ", ".join(map(literal, program.arguments.values()))
    tags = [tag for tag, found in (("f32", "float32"), ("results", "several results")) if found in program.tags]
    also = f", tags={tuple(tags)}" if tags else ""
    return f"    Program({name}, fixed({values}), wrt={program.wrt}{also}),\n"


def literal(value: object) -> str:
    """How Python writes an argument."""
    if isinstance(value, np.ndarray):
        dtype = "" if value.dtype in (np.float64, np.int64) else f", np.{value.dtype}"
        return f"np.array({value.tolist()}{dtype})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item)}" for key, item in value.items()) + "}"
    return f"np.{type(value).__name__}({value.item()})" if isinstance(value, np.generic) else repr(value)
