"""What a list asks for that cannot be read as it is: that a loop carries it or its size, is unrolled, or that arguments
are known. Where nothing helps, it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported
from ...core.sizes import Extent
from ..branches.structures import Template
from ..raising.demand import Demand, Roots, Unroll

if TYPE_CHECKING:
    from ..reader import Reader


class WantsCarried(Exception):
    """The newest items of a list are read in the loop that appends to it, or their number, where that rests on
    conditions: they have to be carried."""

    def __init__(self, home: list[Any], newest: int = 0, counted: bool = False) -> None:
        super().__init__()
        self.home = home
        self.newest = newest
        self.counted = counted


class WantsOpen(Exception):
    """Loops change a list in another way than by an item for each iteration: its items are to lie in arrays whose sizes
    the loops carry (see `open_lists`). `sample` is what an item is, if that is known."""

    def __init__(self, home: list[Any], sample: Template | None, refusal: NotSupported) -> None:
        super().__init__()
        self.home = home
        self.sample = sample
        self.refusal = refusal


class WantsSize(Exception):
    """A loop that carries sizes is to carry that of this list, of which it has taken items that were not there yet."""

    def __init__(self, home: list[Any]) -> None:
        super().__init__()
        self.home = home


class WantsRows(Exception):
    """The loop with this key appends to a list more than one item in an iteration (see `gathering`)."""

    def __init__(self, home: list[Any], loop: Any, refusal: NotSupported) -> None:
        super().__init__()
        self.home = home
        self.loop = loop
        self.refusal = refusal


def wants_other(reader: Reader, loop: Any, home: list[Any], refused: NotSupported, sample: Template | None
                ) -> Exception:
    """What to raise where a loop cannot have a list as it is: it is unrolled, or carries the list if it cannot be."""
    opened = any(each.is_open and reader.made_before(home, each.made) for each in reader.loops)
    return WantsOpen(home, sample, refused) if opened else Unroll(loop, refused)


def known_or(reader: Reader, length: Extent, refused: NotSupported) -> Exception:
    """What to raise where a list has to be one of items that are known one by one: arguments that tell its length have
    to be known, too, if nothing else tells it."""
    roots = Roots(reader)
    roots.follow(length)
    return Demand(roots.paths, refused) if roots.paths and not roots.others and not roots.loops else refused


def refusal(reader: Reader, what: str) -> NotSupported:
    return NotSupported(
        f"{what} is not supported",
        reader.builder.origin,
        why="A list filled by a loop is stored as an array with one row per iteration.",
        instead="Allocate an array before the loop (np.zeros) and assign to its elements.",
    )
