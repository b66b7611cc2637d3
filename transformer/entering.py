"""From Core to a module of explicit loops: a kernel, and the function around it that users call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from . import tree
from .core.errors import Origin
from .core.grammar import Function, Var
from .lower.lowering import Kernel, lower
from .read.entry import Reading
from .read.interface import AxislessType, Interface
from .read.values import Axisless
from .write.entry import EntrySource, computed, write_entry
from .write.header import STANDARD, Header
from .write.names import fresh


@dataclass
class Module:
    """A kernel with its entry; `source` is the text of a module that holds both."""

    kernel: Kernel
    entry: EntrySource

    @property
    def raising(self) -> dict[int, Origin]:
        """The lines of the source that raise, with what they come from."""
        above = len(self._imports()) + 2
        return {above + line: origin for line, origin in self.kernel.printed.raising.items()}

    def _imports(self) -> list[str]:
        imports = _parted(self.kernel.source)[0]
        if NUMPY not in imports:
            imports.insert(sum(line.split()[-1] in STANDARD for line in imports), NUMPY)
        return imports

    @property
    def source(self) -> str:
        imports, code = self._imports(), _parted(self.kernel.source)[1]
        return "\n".join(imports) + f"\n\n\n{code}\n\n" + "\n".join(self.entry.lines) + "\n"

    def file(self, header: Header) -> str:
        """The text of a file of its own, which compiles itself."""
        imports, code = _parted(self.kernel.source)
        code = f"\n{code}"
        for name, options in self.kernel.options.items():
            chosen = ", ".join(f"{key}={value!r}" for key, value in {"cache": True, **options}.items())
            chosen = chosen.replace("'", '"')
            code = code.replace(f"\ndef {name}(", f"\n@njit({chosen})\ndef {name}(")
        entry = "\n".join(self.entry.lines)
        standard = [f"import {name}" for name in STANDARD if f"{name}." in code + entry]
        heads = ["\n".join(header.lines()), *(["\n".join(standard)] if standard else []),
                 "\n".join([NUMPY, *(line for line in imports if "scipy" in line),
                            "from numba import njit" + ", objmode" * ("from numba import objmode" in imports)])]
        return "\n\n".join(heads) + "\n\n\n" + code.lstrip("\n") + "\n\n" + entry + "\n"


NUMPY = "import numpy as np"


def _parted(source: str) -> tuple[list[str], str]:
    """The imports at the top of a module, and the rest."""
    imports = []
    while source.startswith(("import ", "from ")):
        line, _, source = source.partition("\n")
        imports.append(line)
    return imports, source.lstrip("\n")


@dataclass
class _Called:
    """The kernel as its entry calls it."""

    params: list[Var]
    outside: list[Var]
    results: list[Any]


def entered(function: Function, interface: Interface, reading: Reading, extras: list[Any], is_transformed: bool,
            guards: bool = False) -> Module:
    """The module of a function. `extras` are the arguments that transformations added; the results of a
    function that is not transformed end with the arrays that it writes. With `guards` its entry tests the
    shapes it is given."""
    name = interface.name
    taken = {name, *(parameter.name for parameter in interface.parameters)}
    kernel = lower(replace(function, results=computed(function)), reading.assumptions, fresh(f"{name}_kernel", taken),
                   taken)
    count = 0 if is_transformed else len(reading.written)
    values = function.results[len(function.results) - count:]
    written = {each.var: value for each, value in zip(reading.written, values)}
    lowered = kernel.lowered
    entry = write_entry(function, interface, _Called(lowered.function.params, lowered.outside, lowered.results), name,
                        kernel.printed.name, written=written, is_transformed=is_transformed,
                        axisless=axisless(interface, reading, extras), guards=guards)
    return Module(kernel, entry)


def axisless(interface: Interface, reading: Reading, extras: list[Any]) -> list[Var]:
    """The parameters that are arrays without axes: numbers in Core, arrays in a call."""
    read = [var for var, value in zip(reading.function.params, reading.reader.arguments)
            if isinstance(value, Axisless)]
    outside = [hidden.var for hidden in interface.hidden if not getattr(hidden.var.type, "sizes", ())]
    last = interface.positional or len(interface.parameters)
    added = interface.parameters[last - len(extras):last]
    pairs = [pair for parameter, extra in zip(added, extras)
             for pair in zip(tree.leaves(parameter.tree), tree.leaves(extra))]
    return [*read, *outside, *(var for var, type in pairs if isinstance(type, AxislessType))]
