"""What one reading of a function finds out that the next one has to know from the start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..core.errors import Origin, TransformError
from ..core.types import ArrayType
from .calls.keeping import Chosen
from .raising.demand import Unroll

REST = "all but the first"           # the key of a loop is this and the key of the whole


@dataclass
class Findings:
    """What readings found that all later ones of the same function know from the start.

    `unrolled` are the loops that have to be, with why, `declared` the types of names that may be unbound, `tested`
    the places where the program is to test that sizes are equal, `opened` the loops that carry sizes, too
    (`open_sizes`), with why they cannot be unrolled, `instead` the unrolled loops around such ones: whether they are
    to carry sizes instead, or cannot, `caught` the `try`s in which something may be raised, `ended` the managers
    under `with` that end exceptions, `asked` the tests of `while` that write something, `kept` the functions that
    stay functions (`keeping`), `first_apart` the loops whose first iteration leaves things of other types than it
    finds, with what was refused, `all_alike` those of which that did not help, `forks` the `if`s behind which a name
    is not one thing, with what was refused first, `taken` the generators of which more than one item is taken by
    `next`, and `stopping` those within which it matters that `any` or `all` stop.
    """

    unrolled: dict[Any, TransformError] = field(default_factory=dict)
    declared: dict[Any, ArrayType] = field(default_factory=dict)
    tested: set[Any] = field(default_factory=set)
    opened: dict[Any, TransformError | None] = field(default_factory=dict)
    instead: dict[Any, bool] = field(default_factory=dict)
    caught: dict[Any, bool] = field(default_factory=dict)
    ended: set[Origin] = field(default_factory=set)
    asked: set[Origin] = field(default_factory=set)
    kept: dict[Any, Chosen] = field(default_factory=dict)
    first_apart: dict[Any, TransformError] = field(default_factory=dict)
    all_alike: dict[Any, TransformError] = field(default_factory=dict)
    forks: dict[tuple[Origin, str], TransformError] = field(default_factory=dict)
    taken: set[Any] = field(default_factory=set)
    stopping: set[Any] = field(default_factory=set)

    def unroll(self, request: Unroll) -> bool:
        """Notes that a loop has to be unrolled for what follows it, or its first iteration; False if that was known."""
        if request.first_apart and self.begin_apart(request.loop, request.refusal):
            return True
        if request.loop in self.unrolled and not self.instead.get(request.loop):
            return False
        self.unrolled[request.loop] = request.refusal
        self._close(request.loop)
        return True

    def begin_apart(self, loop: Any, refusal: TransformError) -> bool:
        """Has the first iteration of a loop read by itself, and no more of them; False if that has been tried."""
        if loop is None or loop in self.first_apart or loop in self.all_alike or loop[0] == REST:
            return False
        self.first_apart[loop] = refusal
        for found in (self.unrolled, self.opened, self.instead):
            found.pop(loop, None)
        return True

    def begin_alike(self) -> bool:
        """Has loops unrolled whose first iteration is read by itself; False if there are none."""
        found = dict(self.first_apart)
        self.first_apart.clear()
        self.all_alike.update(found)
        self.unrolled.update(found)
        for loop in found:
            self._close(loop)
        return bool(found)

    def unroll_all(self) -> bool:
        """Has loops unrolled that carry sizes instead; False if there are none."""
        found = [loop for loop, carries_sizes in self.instead.items() if carries_sizes]
        for loop in found:
            self._close(loop)
        return bool(found)

    def _close(self, loop: Any) -> None:
        self.instead[loop] = False
        self.opened.pop(loop, None)

    def copy(self) -> Findings:
        return Findings(*(each.copy() for each in vars(self).values()))

    def restore(self, other: Findings) -> None:
        """Forgets what was found since the other one was copied."""
        for kept, before in zip(vars(self).values(), vars(other).values()):
            kept.clear()
            kept.update(before)
