"""Lowering in order: Core → nests → source."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import NotSupported
from ..core.grammar import Function, Var, type_of
from ..core.guards import Assumptions
from ..core.halves import is_half
from ..core.sizes import Size, Unknown, replaced
from ..core.types import ArrayType
from ..core.walk import all_statements, targets_of
from ..write.names import HOSTED_HELPERS, STANDING, fresh
from . import vecmath
from .nest.nests import Lowered
from .options import ALONE, APART, COMPILED, HOSTED, REGROUPED, SHARED
from .ordering.unrolling import has_rows
from .printing.short_rows import known_sizes
from .printing.source import Printed, dimensions, print_lowered
from .printing.turned_params import with_turned
from .stages import expand


@dataclass
class Kernel:
    """A lowered function with its source. Called with the values of the parameters of the Core function,
    it gives those of its results."""

    lowered: Lowered
    printed: Printed
    entry: Any = None

    @property
    def source(self) -> str:
        return self.printed.source

    @property
    def options(self) -> dict[str, dict[str, Any]]:
        """How numba compiles each function of the module, the kernel last."""
        names = (*self.printed.functions, self.printed.name)
        kinds = {**dict.fromkeys(self.printed.vector, vecmath.COMPILED),
                 **dict.fromkeys(self.printed.regrouped, REGROUPED), **dict.fromkeys(self.printed.hosted, HOSTED),
                 **dict.fromkeys(self.printed.tasks, SHARED),
                 **dict.fromkeys(self.printed.alone, ALONE), **dict.fromkeys(self.printed.repeated, APART)}
        options = {name: dict(kinds.get(name, COMPILED)) for name in names}
        for name, form in self.printed.forms.items():
            options[name]["form"] = form
        if has_rows(self.lowered.body):
            options[self.printed.name]["rows"] = True
        if self._borrows():
            options[self.printed.name]["borrows"] = True
        for name, arrays in self.printed.arrays.items():
            if sizes := known_sizes(arrays, self.lowered.body):
                options[name]["sizes"] = sizes
        return options

    def _borrows(self) -> bool:
        """Whether nobody has an array that it was given, once the call is done: no result is one, and Python had none
        but for a call of LAPACK."""
        return self.printed.hosted <= set(self.printed.forms) and all(
            isinstance(type := type_of(atom), ArrayType) and not type.sizes for atom in self.lowered.returned)

    def namespace(self) -> dict[str, Any]:
        """What the source defines, as plain Python."""
        namespace = dict(self.printed.given)
        exec(compile(self.source, f"<lowered {self.printed.name}>", "exec"), namespace)
        return namespace

    def __call__(self, *args: Any) -> list[Any]:
        entry = self.entry or self.namespace()[self.printed.name]
        values = dict(zip(self.lowered.function.params, args, strict=True))
        outside = [self._allocated(target, values) for target in self.lowered.outside]
        with _without_warnings(self.entry is not None):
            given = entry(*map(_as_argument, self.lowered.function.params, args), *outside)
        made = {**values, **dict(zip(self.lowered.outside, outside, strict=True))}
        returned = iter(given if len(self.lowered.returned) > 1 else (given,))
        passed = {*self.lowered.outside, *self.lowered.in_place}
        return [made[atom] if atom in passed else _in_type(next(returned), type_of(atom))   # type: ignore[index]
                for atom in self.lowered.results]

    def _allocated(self, target: Var, values: dict[Any, Any]) -> np.ndarray:
        sources = dimensions(self.lowered)

        def known(leaf: Any) -> int | None:
            if isinstance(leaf, Unknown):
                return int(values[leaf.var])
            if leaf in sources:
                param, axis = sources[leaf]
                return int(np.shape(values[param])[axis])
            return None

        type: ArrayType = target.type                                    # type: ignore[assignment]
        sizes = [replaced(size, known) if isinstance(size, Size) else size for size in type.sizes]
        return (np.zeros if target in self.lowered.zeroed else np.empty)(sizes, type.dtype)   # type: ignore[arg-type]


@contextmanager
def _without_warnings(compiled: bool) -> Iterator[None]:
    """What numba has to say of calls of Python, and of products whose operands it copies, is known."""
    with warnings.catch_warnings():
        if compiled:
            from numba.core.errors import NumbaWarning
            warnings.simplefilter("ignore", NumbaWarning)
        yield


def lower(function: Function, assumptions: Assumptions | None = None, name: str | None = None,
          taken: Iterable[str] = (), donated: Iterable[Var] = (), threads: bool = False,
          turned: Collection[Var] = ()) -> Kernel:
    """The kernel of a Core function; not compiled yet. `taken` are names of the module that it becomes part of,
    `donated` the parameters whose memory it may use; with `threads`, these share its loops. Of those that are `turned`
    it takes the transposes. Raises a located `NotSupported`."""
    _refuse_halves(function)
    lowered = expand(with_turned(function, turned), assumptions, donated, threads)
    return Kernel(lowered, print_lowered(lowered, name or fresh(function.name, {*HOSTED_HELPERS, *STANDING}), taken))


def _refuse_halves(function: Function) -> None:
    """Raises where numbers of 16 bits are left, which entries convert."""
    for stmt in all_statements(function.body):
        found = [target.type for target in targets_of(stmt) if isinstance(target.type, ArrayType)]
        if any(is_half(type.dtype) for type in found):
            raise NotSupported(f"{found[0].dtype.name} is not supported in compiled code", stmt.origin,
                               why="Processors have no arithmetic for it.", instead="Use float32.")


def _as_argument(param: Var, value: Any) -> Any:
    """A value as numba takes it: Python's numbers in the dtype of their type."""
    type = param.type
    if not isinstance(type, ArrayType):
        raise NotSupported("a sequence as an argument of compiled code is not supported")
    return value if type.sizes else type.dtype.type(value)


def _in_type(value: Any, type: Any) -> Any:
    """A result in its own type: numba gives Python's numbers."""
    if type.sizes:
        return value
    number = type.dtype.type(value)
    return number.item() if type.weak else number


