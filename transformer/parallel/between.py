"""Programs of `pmap` on the devices of several processes: what threads exchange comes first, then one exchange of each
process with the others."""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Callable, Collection, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from .. import tree
from ..core.dims import dims_of
from ..core.grammar import Let, Var
from ..core.sizes import Size
from ..core.walk import all_statements
from ..run.dispatch import Entry
from ..transform.phases import is_collective
from .courses import agreeing
from .device import Device
from .exchange import Exchange
from .program import Program
from .sharded import Sharded, part_of
from .together import Share
from .workers import known

WHAT: dict[np.ufunc, str] = {np.add: "psum", np.maximum: "pmax", np.minimum: "pmin"}
SMALL = 1 << 14                         # bytes: sums of less are exchanged together


class ExchangeBetween(Exchange):
    """Collectives over the devices of all processes. `is_settled` says whether the shapes of what is exchanged follow
    from those of the arguments, which were compared; `begun` is the comparison, which may still be on its way."""

    def __init__(self, devices: Sequence[Device], share: Share, is_settled: bool) -> None:
        super().__init__(devices)
        self.share, self.group, self.count = share, share.group, share.total
        self.is_settled = is_settled
        self.begun: Callable[[], None] | None = None

    def finish(self) -> None:
        """Waits for the comparison of what all are about to do, if it was not waited for."""
        begun, self.begun = self.begun, None
        if begun is not None:
            begun()

    def sums(self, kinds: Sequence[str], operands: Sequence[Any]) -> list[Any]:
        """Several sums and means; what is small is exchanged together."""
        own = [self._own(x, np.add) for x in operands]
        arrays = {k: np.asarray(value) for k, value in enumerate(own) if type(operands[k]) is Sharded}
        for array in arrays.values():
            self._ready("psum", array)
        totals = {k: self.group.combined(array, np.add, "psum") for k, array in arrays.items()
                  if array.nbytes >= SMALL}
        small = {k: array for k, array in arrays.items() if k not in totals}
        for dtype in dict.fromkeys(array.dtype for array in small.values()):       # in the same order everywhere
            totals |= self._joined({k: array for k, array in small.items() if array.dtype == dtype})
        found = [_kind_of(totals[k], value) if k in totals else value for k, value in enumerate(own)]
        return [self._mean(x, total) if kind == "pmean" else total
                for kind, x, total in zip(kinds, operands, found, strict=True)]

    def _joined(self, arrays: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """The sums of small arrays of one dtype."""
        flat = np.concatenate([array.reshape(-1) for array in arrays.values()])
        ends = np.cumsum([array.size for array in arrays.values()])
        parts = np.split(self.group.combined(flat, np.add, "psum"), ends[:-1])
        return {k: part.reshape(array.shape) for (k, array), part in zip(arrays.items(), parts)}

    def _reduced(self, x: Any, combine: np.ufunc = np.add) -> Any:
        """The devices here first, and then processes. What is the same everywhere is known everywhere."""
        own = self._own(x, combine)
        if type(x) is not Sharded:
            return own
        array = np.asarray(own)
        self._ready(WHAT[combine], array)
        return _kind_of(self.group.combined(array, combine, WHAT[combine]), own)

    def _own(self, x: Any, combine: np.ufunc) -> Any:
        """What the devices of this process have."""
        return known(x.parts[0]) if type(x) is Sharded and len(x.parts) == 1 else super()._reduced(x, combine)

    def all_gather(self, x: Any, axis_name: Any) -> Any:
        if type(x) is not Sharded:
            return super().all_gather(x, axis_name)
        values = [np.asarray(value) for value in x.values()]
        self._ready("all_gather", values[0])
        whole = np.empty((self.count, *values[0].shape), values[0].dtype)
        first = self.share.first
        np.stack(values, out=whole[first:first + len(values)])
        return self.group.rows(whole, self.share.counts, "all_gather")

    def ppermute(self, x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Sharded:
        """What stays in this process is handed on as it is, pending or not."""
        first, sources = self.share.first, {target: source for source, target in perm}
        own = range(first, first + len(self.devices))
        like = np.asarray(known(part_of(x, 0)))
        self._ready("ppermute", like)
        coming = {k: np.empty_like(like, order="C", subok=False) for k in own if k in sources and sources[k] not in own}
        going = [(np.asarray(known(part_of(x, source - first))), self.share.process_of(target), target)
                 for source, target in perm if source in own and target not in own]
        self.group.handed_on(going, [(coming[k], self.share.process_of(sources[k]), k) for k in coming],
                             "ppermute", like.nbytes)
        return Sharded([_like(coming[k], x) if k in coming else part_of(x, sources[k] - first) if k in sources
                        else np.zeros_like(known(part_of(x, k - first))) for k in own])

    def all_to_all(self, x: Any, axis_name: Any, split_axis: int, concat_axis: int) -> Sharded:
        if type(x) is not Sharded:
            x = Sharded([x] * len(self.devices))
        values = [np.moveaxis(np.asarray(value), split_axis, 0) for value in x.values()]
        self._ready("all_to_all", values[0])
        rest, here, counts = values[0].shape[1:], len(values), self.share.counts
        sent = np.stack(values, axis=1)                  # for each device of all: what those here have for it
        received = self.group.blocks(np.split(sent, np.cumsum(counts)[:-1]),
                                     [(here, count, *rest) for count in counts], "all_to_all")
        return Sharded([np.stack([row for part in received for row in part[k]], concat_axis) for k in range(here)])

    def axis_index(self, axis_name: Any) -> Sharded:
        return Sharded([np.int64(self.share.first + k) for k in range(len(self.devices))])

    def agreed_truth(self, value: Any) -> bool:
        """A condition. Raises where processes would take different courses."""
        return self._agreed(bool(value))

    def agreed_index(self, value: Any) -> int:
        """How often a loop runs, likewise."""
        return self._agreed(operator.index(value))

    def _agreed(self, value: Any) -> Any:
        self.finish()
        self.group.compare(f"a loop or branch around a collective that depends on {value}", "a loop or branch")
        return value

    def _ready(self, what: str, array: np.ndarray) -> None:
        self.finish()
        if not self.is_settled:
            self.group.compare(f"{what} of {array.dtype}{list(array.shape)}")


class ProgramBetween(Program):
    """A driver that all processes run, each for its own devices."""

    exchange: ExchangeBetween

    def __init__(self, entry: Entry, devices: Sequence[Device], share: Share, donated: Collection[str]
                 ) -> None:
        self.share = share
        super().__init__(entry, devices, donated)
        self._identities: dict[Any, tuple[int, str]] = {}

    def _exchange(self) -> Exchange:
        core = self.entry.generated.function
        exchanged = [arg for stmt in all_statements(core.body) if isinstance(stmt, Let) and is_collective(stmt)
                     for arg in stmt.args if isinstance(arg, Var)]
        known_dims = dims_of(core.params)
        settled = all(leaf in known_dims for arg in exchanged for size in getattr(arg.type, "sizes", ())
                      if isinstance(size, Size) for leaf in size.leaves)
        return ExchangeBetween(self.devices, self.share, settled)

    def _code(self, function: FunctionType) -> CodeType:
        return agreeing(self.entry.generated.written.source, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_collectives:             # each process goes its own way
            return super().__call__(*args, **kwargs)
        number, text = self._identity(args, kwargs)
        self.exchange.begun = self.share.group.begin_comparison(number, lambda: text, "the start")
        try:
            return super().__call__(*args, **kwargs)
        finally:
            self.exchange.finish()               # so that nothing is left of it for the next call

    def _identity(self, args: Any, kwargs: Any) -> tuple[int, str]:
        """What all have to be about to run, as a number and as a text. The first time, values of what devices share
        are part of it."""
        leaves, structure = tree.flatten((args, kwargs))
        signature = (structure, *map(_described, leaves), *self.entry.hidden_key)
        found = self._identities.get(signature)
        if found is not None:
            return found
        text = self._text(leaves, structure)
        self._identities[signature] = self.share.group.digest(text), text
        names = [self._named(path) for path in structure.paths()] + [hidden.name for hidden in self.entry.hidden]
        shared = zip([*leaves, *(hidden.fetch() for hidden in self.entry.hidden)], names)
        text += "".join(f"\n{name}, which devices share: {_values(leaf)}"
                        for leaf, name in shared if type(leaf) is not Sharded)
        return self.share.group.digest(text), text

    def _text(self, leaves: list[Any], structure: Any) -> str:
        shown = [f"{self._named(path)}: {_shown(leaf)}" for leaf, path in zip(leaves, structure.paths())]
        outside = [f"{hidden.name}: {key}" for hidden, key in zip(self.entry.hidden, self.entry.hidden_key)]
        return "\n".join([self.entry.source.rstrip(), f"on {self.share.total} devices", *shown, *outside])

    def _named(self, path: str) -> str:
        """An argument, of its path among all of them."""
        names = [parameter.name for parameter in self.entry.generated.interface.parameters]
        kind, key, rest = re.fullmatch(r"\[(\d)\]\[([^]]*)\](.*)", path, re.DOTALL).groups()   # type: ignore[union-attr]
        if kind == "1":
            return key.strip("'") + rest
        return (names[int(key)] if int(key) < len(names) else f"argument {key}") + rest


def _described(leaf: Any) -> Any:
    """What processes have to have in common of an argument: types and shapes, and values that may be in the source."""
    first = known(leaf.parts[0]) if type(leaf) is Sharded else leaf
    if hasattr(first, "dtype"):
        return first.dtype, first.shape
    return (type(first), first) if isinstance(first, (bool, str, type(None))) else type(first)


def _shown(leaf: Any) -> str:
    found = _described(leaf)
    return f"{found[0]} {found[1]}" if isinstance(found, tuple) else found.__name__


def _values(leaf: Any) -> str:
    array = np.asarray(leaf)
    if array.dtype.kind == "O":                  # its text may tell where it lies
        return str(getattr(leaf, "__qualname__", type(leaf).__qualname__))
    if array.size == 1:
        return repr(leaf)
    return f"{array.dtype} {array.shape} with sum {hashlib.sha256(array.tobytes()).hexdigest()[:16]}"


def _kind_of(total: np.ndarray, own: Any) -> Any:
    """A sum as the kind of number that was added."""
    if isinstance(own, np.ndarray):
        return total
    return total[()] if isinstance(own, np.generic) else total.item()


def _like(array: np.ndarray, x: Any) -> Any:
    """An array of rank 0 as the number that it was."""
    return array if array.ndim else array[()] if isinstance(known(part_of(x, 0)), np.generic) else array
