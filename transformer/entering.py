"""From Core to a module of explicit loops: a kernel, and the function around it that users call."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import tree
from .core.errors import Origin
from .core.grammar import Function, Var, is_array
from .core.walk import reachable
from .lower.cuda import reserved
from .lower.lowering import lower
from .lower.nest.aliases import is_written
from .lower.options import for_numba
from .read.entry import Reading
from .read.interface import AxislessType, Interface
from .read.values import Axisless
from .settings import config
from .write.entry import EntrySource, Kernel, computed, write_entry
from .write.header import LIBRARIES, STANDARD, Header
from .write.names import HOSTED_HELPERS, STANDING, fresh

if TYPE_CHECKING:
    from .pipeline import Prepared, Product, Request


@dataclass
class Module:
    """A kernel with its entry; `source` is the text of a module that holds both. `donated` are the paths of the
    arguments in whose memory it writes results."""

    kernel: Any                              # a Kernel, or GpuKernels
    entry: EntrySource
    donated: tuple[str, ...]

    @property
    def raising(self) -> dict[int, Origin]:
        """The lines of the source that raise, with what they come from."""
        above = len(self._imports()) + 2
        return {above + line: origin for line, origin in self.kernel.printed.raising.items()}

    def _imports(self) -> list[str]:
        imports = _parted(self.kernel.source)[0]
        if NUMPY not in imports:
            imports.insert(sum(line.split()[-1] in STANDARD for line in imports), NUMPY)
        if self._names_bfloat16():
            imports.insert(imports.index(NUMPY), BFLOAT16)
        return imports

    def _names_bfloat16(self) -> bool:
        return any("ml_dtypes." in line for line in self.entry.lines)

    @property
    def source(self) -> str:
        imports, code = self._imports(), _parted(self.kernel.source)[1]
        return "\n".join(imports) + f"\n\n\n{code}\n\n" + "\n".join(self.entry.lines) + "\n"

    def file(self, header: Header) -> str:
        """The text of a file of its own, which compiles itself."""
        imports, code = _parted(self.kernel.source)
        code = f"\n{code}"
        for name, options in self.kernel.options.items():
            chosen = ", ".join(f"{key}={value!r}" for key, value in {"cache": True, **for_numba(options)}.items())
            chosen = chosen.replace("'", '"')
            code = code.replace(f"\ndef {name}(", f"\n@njit({chosen})\ndef {name}(")
        entry = "\n".join(self.entry.lines)
        standard = [f"import {name}" for name in STANDARD if f"{name}." in code + entry]
        heads = ["\n".join(header.lines()), *(["\n".join(standard)] if standard else []),
                 "\n".join([*[BFLOAT16] * self._names_bfloat16(), NUMPY, *(line for line in imports if "scipy" in line),
                            "from numba import njit" + ", objmode" * ("from numba import objmode" in imports)])]
        return "\n\n".join(heads) + "\n\n\n" + code.lstrip("\n") + "\n\n" + entry + "\n"


class GpuModule(Module):
    """Kernels, their driver and an entry; `source` is the text of a module that holds them. Numba compiles a kernel
    when it is first launched."""

    @property
    def raising(self) -> dict[int, Origin]:
        below = int(self._lacks_bfloat16())
        return {line + below: origin for line, origin in self.kernel.printed.raising.items()}

    @property
    def source(self) -> str:
        text = self.kernel.source + "\n\n" + "\n".join(self.entry.lines) + "\n"
        return text.replace(f"\n{NUMPY}\n", f"\n{BFLOAT16}\n{NUMPY}\n", 1) if self._lacks_bfloat16() else text

    def _lacks_bfloat16(self) -> bool:
        return self._names_bfloat16() and BFLOAT16 not in self.kernel.source

    def file(self, header: Header) -> str:
        return "\n".join(header.lines()) + "\n\n" + self.source


NUMPY, BFLOAT16 = LIBRARIES["np"], LIBRARIES["ml_dtypes"]


def _parted(source: str) -> tuple[list[str], str]:
    """The imports at the top of a module, and the rest."""
    imports = []
    while source.startswith(("import ", "from ")):
        line, _, source = source.partition("\n")
        imports.append(line)
    return imports, source.lstrip("\n")


def entered(made: Prepared, request: Request, product: Product, donated: Collection[str] = (),
            turned: Collection[str] = ()) -> Module:
    """The module of a prepared function. Results may live in the arrays of arguments that are named in `donated`.
    Arrays at the paths `turned` lie column by column; the kernel takes their transposes. What has a header is a file
    of its own: its entry tests the shapes it is given, and there is one thread."""
    function, interface, reading = made.function, made.interface, made.reading
    for_gpu, is_file = product.for_gpu, request.header is not None
    name = fresh(interface.name, {*(reserved.NAMES if for_gpu else STANDING), *HOSTED_HELPERS})
    taken = {name, *(parameter.name for parameter in interface.parameters)}
    given = donations(function, interface, reading, donated)
    columns = set() if for_gpu else set(in_columns(function, interface, reading, turned)).difference(given)
    inner = replace(function, results=computed(function))
    kernel: Any = _lowered_for_gpu(inner, reading, fresh(f"{name}_driver", taken), taken) if for_gpu else lower(
        inner, reading.assumptions, fresh(f"{name}_kernel", taken), taken, given,
        threads=not is_file and config.threads > 1, turned=columns)
    lowered = kernel.lowered
    called = Kernel(kernel.printed.name, inner.params if columns else lowered.function.params, lowered.outside,
                    lowered.zeroed, lowered.in_place, lowered.results, lowered.cells, columns, given,
                    "cp" if for_gpu else "np", is_file and 'IndexError("index", ' in kernel.source)
    entry = write_entry(function, interface, called, name, written=_new_values(made, request),
                        is_transformed=bool(request.modes), axisless=axisless(interface, reading, request.extras),
                        guards=is_file)
    used = tuple(path for var, path in given.items() if is_written(var, lowered.body))
    return (GpuModule if for_gpu else Module)(kernel, entry, used)


def _new_values(made: Prepared, request: Request) -> dict[Var, Any]:
    """The arguments that a function writes, with their new values: the last results of what is not transformed."""
    written, results = [] if request.modes else made.reading.written, made.function.results
    return {each.var: value for each, value in zip(written, results[len(results) - len(written):])}


def _lowered_for_gpu(function: Function, reading: Reading, name: str, taken: set[str]) -> Any:
    """The kernels of a function, by passes that are imported where somebody has a GPU."""
    from .lower.cuda.lowering import lower_for_gpu
    return lower_for_gpu(function, reading.assumptions, name, taken)


def donations(function: Function, interface: Interface, reading: Reading, names: Collection[str]) -> dict[Var, str]:
    """The arrays in donated arguments that a kernel may write, with their paths: not those that are results
    themselves, or that the function writes, which are their caller's."""
    return {leaf: path for name, path, leaf in _arrays(function, interface, reading) if name in names}


def in_columns(function: Function, interface: Interface, reading: Reading, paths: Collection[str]) -> list[Var]:
    """The arrays in arguments at these paths which a kernel may take as it likes."""
    calls_others = len(reachable(function)) > 1
    return [leaf for _, path, leaf in _arrays(function, interface, reading) if path in paths and not calls_others]


def _arrays(function: Function, interface: Interface, reading: Reading) -> Iterator[tuple[str, str, Var]]:
    """The arrays in arguments that are neither results nor written, with names of parameters and paths."""
    taken: set[Any] = {*function.results, *(each.var for each in reading.written)}
    for parameter in interface.parameters:
        leaves, structure = tree.flatten(parameter.tree)
        for leaf, path in zip(leaves, structure.paths()):
            if is_array(leaf) and leaf not in taken and leaf not in interface.halves:
                yield parameter.name, parameter.name + path, leaf


def axisless(interface: Interface, reading: Reading, extras: list[Any]) -> list[Var]:
    """The parameters that are arrays without axes: numbers in Core, arrays in a call."""
    read = [var for var, value in zip(reading.function.params, reading.reader.arguments.values)
            if isinstance(value, Axisless)]
    outside = [hidden.var for hidden in interface.hidden
               if not hidden.is_number and not getattr(hidden.var.type, "sizes", ())]
    last = interface.positional or len(interface.parameters)
    added = interface.parameters[last - len(extras):last]
    pairs = [pair for parameter, extra in zip(added, extras)
             for pair in zip(tree.leaves(parameter.tree), tree.leaves(extra))]
    return [*read, *outside, *(var for var, type in pairs if isinstance(type, AxislessType))]
