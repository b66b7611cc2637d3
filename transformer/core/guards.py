"""What is assumed about sizes while a function is read: hints, equalities, guards.

Two sizes that are not the same polynomial may still be equal. `Assumptions` decides such questions
with the sizes of the call being read (its hints), writes down what it assumed as a guard, and
from then on treats the two as one. Without hints (a source file is being written) equal sizes are
assumed. The guards are tested before the body runs, so that no assumption is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from .bounds import Bounds, extremes_of
from .equations import bound_size, guardable, is_twin, single_atom, solved, solved_inside, value_of, without_inner
from .exact import divided_out, exact_division
from .sizes import Dim, Extent, Floor, Size, SizeAtom, Unknown, leaves, replaced


@dataclass(frozen=True, slots=True)
class Guard:
    """`left == right` (kind ``"equal"``) or `left >= right` (kind ``"at least"``). Of kind ``"chosen"`` are
    those with `>=` that decide between codes which are both right: files do not test them."""

    kind: str
    left: Extent
    right: Extent

    def holds(self, values: Mapping[SizeAtom, int]) -> bool:
        left, right = value_of(self.left, values), value_of(self.right, values)
        assert left is not None and right is not None
        return left == right if self.kind == "equal" else left >= right

    def __repr__(self) -> str:
        return f"{self.left} {'==' if self.kind == 'equal' else '>='} {self.right}{' chosen' * (self.kind == 'chosen')}"


class Assumptions(Bounds):
    """Hints, equalities found so far, and the guards they rest on.

    `smallest` is what every named dimension is known to be at least: 2 for functions specialised
    to a call (dimensions 0 and 1 are numbers there), 0 for emitted files. `tester` emits a test that
    two sizes are equal into the program, where that is how to go on, `sign_tester` one that a size is not
    negative. `holes` collects the sizes in the text of an error that the program fills in when it runs. `denied`
    are pairs of which the first is greater in the call being read, as a question has found.
    """

    def __init__(self, hints: Mapping[SizeAtom, int] | None = None, smallest: int = 0) -> None:
        self.hints = dict(hints or {})
        super().__init__(smallest)
        self.bound: dict[SizeAtom, Extent] = {}
        self._identified = 0
        self._normal: dict[Size, Extent] = {}
        self.guards: list[Guard] = []
        self._strongest: dict[Extent, int] = {}                    # guards by what they are but for a number, and that
        self._counted: list[Guard] = []                            # those among which these are the strongest
        self._consistent = False
        self.tester: Callable[[Extent, Extent], None] | None = None
        self.exception: type[Exception] = ValueError               # that a test raises
        self.sign_tester: Callable[[Extent], None] | None = None
        self.holes: list[Size] | None = None
        self._not_negative: list[Extent] = []                      # as tests in the block have found
        self.exact: dict[Floor, Floor] = {}
        self._tested: list[SizeAtom] = []
        self.denied: list[tuple[Extent, Extent]] = []

    @contextmanager
    def raising(self, exception: type[Exception]) -> Iterator[None]:
        """While what does not fit raises this in the program."""
        outer, self.exception = self.exception, exception
        try:
            yield
        finally:
            self.exception = outer

    def normal(self, size: Extent) -> Extent:
        """`size` in terms of one representative of each class of equal sizes."""
        if not self.bound and not self.exact or not isinstance(size, Size):
            return size
        known = self._normal.get(size)
        if known is None:
            known = self._normal[size] = divided_out(
                replaced(size, self._representative), self.exact.values(), self.bound)
            if known != size:                    # a division may be one that is known only now
                known = self._normal[size] = self.normal(known)
        return known

    def _forget(self) -> None:
        """What sizes are in terms of representatives is another, or may be."""
        self._normal.clear()
        self._never_negative.clear()
        self._strongest.clear()
        self._counted.clear()

    def checkpoint(self) -> Any:
        """What is assumed now, for `restore`."""
        return dict(self.bound), dict(self.exact), len(self.guards), len(self._not_negative)

    def restore(self, checkpoint: Any) -> None:
        """Drops what was assumed since a checkpoint."""
        self.bound, self.exact = dict(checkpoint[0]), dict(checkpoint[1])
        self.drop_guards(checkpoint[2])
        del self._not_negative[checkpoint[3]:]

    def drop_guards(self, count: int) -> None:
        """Drops all guards but the first ones, on which nothing rests that has been found since."""
        del self.guards[count:]
        self._forget()

    def _representative(self, atom: SizeAtom) -> Extent | None:
        # What is the same in a branch only must not stay when the branch is left.
        size = bound_size(atom, self.bound, shorten=not self._identified and not self._tested)
        return None if size is None else self.normal(size)

    def equal(self, left: Extent, right: Extent) -> bool:
        """Whether two sizes are equal; where it is open, decided by hints (or assumed) and guarded."""
        if left == right:
            return True
        left, right = self.normal(left), self.normal(right)
        difference = self.normal(left - right)
        if isinstance(difference, int):
            return difference == 0
        if not guardable(difference):
            return self._consistent or self._are_equal_by_leaves(left, right) or self._tests(left, right)
        known = value_of(difference, self.hints)
        if known is not None and known != 0:
            self.denied.append((left, right) if known > 0 else (right, left))
            return False
        left, right = without_inner(left, right)
        self.guards.append(Guard("equal", left, right))
        self._unify(left, right)
        return True

    def _are_equal_by_leaves(self, left: Extent, right: Extent) -> bool:
        """Whether two sizes that depend on integers of the program, such as ``min(i + 2, n) - i`` and
        ``min(i + 2, m) - i``, are equal because two dimensions are, or one is a number."""
        known = [s for s in map(Size.of, dict.fromkeys((*leaves(left), *leaves(right)))) if guardable(s)]
        numbers = [(s, value) for s in known if (value := value_of(s, self.hints)) is not None]
        pairs: list[tuple[Size, Extent]] = [*permutations(known, 2), *numbers]
        for one, other in pairs:
            difference = replaced(left, {single_atom(one): other}.get) - replaced(right, {single_atom(one): other}.get)
            if self._is_certainly_zero(difference) and self.equal(one, other):
                return True
        return False

    def _is_certainly_zero(self, difference: Extent) -> bool:
        """Whether a size is 0, as ``max(min(8, n - i), 0) - min(8, n - i)`` is for i below n."""
        return difference == 0 or isinstance(difference, Size) and any(extremes_of(difference)) and (
            self.lower_bound(difference) == self.lower_bound(-difference) == 0)

    def may_be_equal(self, left: Extent, right: Extent) -> bool:
        """Whether only the program itself can tell if two sizes are equal."""
        difference = self.normal(self.normal(left) - self.normal(right))
        if not isinstance(difference, Size) or guardable(difference):
            return False
        return not any(low is not None and low > 0 for low in map(self.lower_bound, (difference, -difference)))

    def _tests(self, left: Extent, right: Extent) -> bool:
        """Has the program test that two sizes are equal, if they may be."""
        if self.tester is None or not self.may_be_equal(left, right):
            return False
        self.tester(left, right)
        self.is_tested(left, right)
        return True

    def is_tested(self, left: Extent, right: Extent) -> None:
        """Notes that two sizes are equal in the rest of the block, as the program has tested it."""
        left, right = self.normal(left), self.normal(right)
        floor = exact_division(left, right)
        if floor is not None:
            self.exact[floor] = floor
            self._tested.append(floor)
        elif left != right and (found := solved_inside(left, right)) is not None:
            self.bound[found[0]] = found[1]
            self._tested.append(found[0])
        self._forget()

    def tested(self) -> list[tuple[Extent, Extent]]:
        """Pairs of sizes that are equal in the rest of the block, as the program has tested them."""
        floors = [atom for atom in self._tested if isinstance(atom, Floor) and atom in self.exact]
        whole = [(floor.numerator, Size.of(floor) * floor.denominator) for floor in floors]
        return [*whole, *((Size.of(atom), self.bound[atom]) for atom in self._tested if atom in self.bound)]

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is tested in a block of the program holds there, and not behind it."""
        outer, self._tested = self._tested, []
        count = len(self._not_negative)
        try:
            yield
        finally:
            del self._not_negative[count:]
            for atom in self._tested:
                self.bound.pop(atom, None)
                if isinstance(atom, Floor):
                    self.exact.pop(atom, None)
            if self._tested:
                self._forget()
            self._tested = outer

    def is_one(self, size: Extent) -> bool:
        """Whether a size is 1, as a computed one may be in the call being read; guarded then."""
        return value_of(self.normal(size), self.hints) == 1 and self.equal(size, 1)

    def at_least(self, left: Extent, right: Extent) -> bool:
        """Whether `left >= right`; where it is open, decided by hints (or assumed) and guarded."""
        difference = self.normal(left) - self.normal(right)
        low = self.lower_bound(difference)
        if low is not None and low >= 0:
            return True
        left, right = self.normal(left), self.normal(right)
        if not guardable(difference):
            if self._follows_from(self._not_negative, difference):
                return True
            # An integer with a range, such as the index of a loop: what is certain of its lowest value.
            lowest = self._lowest(difference)[0]
            if lowest is None or not guardable(lowest):
                return False
            left, right, difference = lowest, 0, lowest
        if isinstance(difference, int):
            return False
        known = value_of(difference, self.hints)
        if known is not None and known < 0:
            self.denied.append((right, left))
            return False
        if known is None and _holds_for_few(difference):
            return False
        if not self._is_guarded(difference):
            self.guards.append(Guard("at least", *without_inner(left, right)))
        return True

    def choose(self, left: Extent, right: Extent) -> bool:
        """Whether `left >= right` in the call being read: for calls where that differs, other code is made."""
        known = value_of(self.normal(left - right), self.hints)
        chosen = known is not None and known >= 0
        if isinstance(left - right, Size) and guardable(left - right) and known is not None:
            sides = (left, right) if chosen else (right - 1, left)
            self.guards.append(Guard("chosen", *without_inner(*map(self.normal, sides))))
        return chosen

    def decide(self, size: Extent, shapes: Container[Any] = ()) -> bool:
        """Whether `size >= 0` certainly, or in all calls that this code is made for, as the shapes of the call
        being read decide: dimensions of arguments, and the integer arguments that are among `shapes`. What other
        integers are is left open, as they would need other code from call to call."""
        lowest = self._lowest(self.normal(size))[0]
        if not isinstance(lowest, Size):
            return lowest is not None and lowest >= 0
        if self.is_decided(lowest):
            return True
        if not guardable(lowest) or any(isinstance(leaf, Unknown) and leaf not in shapes for leaf in leaves(lowest)):
            return False
        known = value_of(lowest, self.hints)
        return known is not None and known >= 0 and self.choose(lowest, 0)

    def holds_throughout(self, size: Extent) -> bool:
        """Whether `size >= 0` wherever the code runs: certainly, or by a guard, and not only behind a test."""
        size = self.normal(size)
        low = self.lower_bound(size)
        chosen = (guard.left - guard.right for guard in self.guards if guard.kind == "chosen")
        return low is not None and low >= 0 or self._follows_from((*self._guarded(), *chosen), size)

    def is_decided(self, size: Extent) -> bool:
        """Whether `size >= 0` certainly, or by what has been chosen or assumed for the calls that this code is made
        for."""
        return self.holds_throughout(size) or self._follows_from(self._not_negative, self.normal(size))

    def _is_guarded(self, difference: Extent) -> bool:
        """Whether `difference >= 0` follows from a guard that there is, or from a test in the block."""
        return self._follows_from((*self._guarded(), *self._not_negative), difference)

    def _guarded(self) -> Iterable[Extent]:
        """What is not negative by a guard; of what differs by a number, as for ``x[0]`` and ``x[1]``, the least."""
        for guard in self.guards[len(self._counted):]:
            self._counted.append(guard)
            if guard.kind == "at least":
                size = self.normal(guard.left - guard.right)
                constant = size.constant if isinstance(size, Size) else size
                self._strongest[size - constant] = min(constant, self._strongest.get(size - constant, constant))
        return [size + constant for size, constant in self._strongest.items()]

    def _follows_from(self, known: Iterable[Extent], difference: Extent) -> bool:
        """Whether `difference >= 0` follows where one of these is not negative."""
        return any(self.is_never_negative(difference - size) for size in known)

    def certainly_at_least(self, left: Extent, right: Extent) -> bool:
        """Whether `left >= right` holds without any further assumption."""
        return self.is_never_negative(self.normal(left) - self.normal(right))

    def certainly_equal(self, left: Extent, right: Extent) -> bool:
        """Whether two sizes are equal without any further assumption, as guards say."""
        difference = self.normal(self.normal(left) - self.normal(right))
        return difference == 0 or any(
            guard.kind == "equal" and self.normal(guard.left - guard.right) in (difference, -difference)
            for guard in self.guards)

    def follows(self, size: Extent, least: int) -> bool:
        """Whether ``size >= least`` holds without any further assumption, or by a guard that there is."""
        difference = self.normal(size) - least
        return self.is_never_negative(difference) or self._is_guarded(difference)

    def test_sign(self, size: Extent) -> None:
        """Has the program test that a size is not negative, where that is open."""
        size = self.normal(size)
        if self.sign_tester is not None and isinstance(size, Size) and not self.follows(size, 0):
            self.sign_tester(size)
            self._not_negative.append(size)

    def found_at_least(self, size: Extent, least: int) -> None:
        """Notes that ``size >= least`` holds in the rest of the block, as the program has tested it."""
        self._not_negative.append(self.normal(size) - least)

    def within(self, var: Any, low: Extent | None, high: Extent | None) -> None:
        """Notes that an integer of the program is certainly in `low..high` (None: open), such as
        the position of a loop in ``0..trips-1``."""
        self.ranges[Unknown(var)] = low, high

    def exists(self, size: Extent) -> None:
        """Notes that an array has this size, which therefore is not negative."""
        atom = single_atom(size)
        if isinstance(atom, Unknown):
            self.ranges.setdefault(atom, (0, None))

    @contextmanager
    def consistent(self) -> Iterator[None]:
        """While a program that was read is transformed: what meets fits together. A size found again
        in a reverse sweep, such as how many elements a mask selects, is an integer of its own there."""
        before, self._consistent = self._consistent, True
        try:
            yield
        finally:
            self._consistent = before

    @contextmanager
    def identified(self, pairs: Mapping[Any, Extent]) -> Iterator[None]:
        """Integers that are certainly these sizes, as what leaves a branch is what it was inside."""
        outer: dict[SizeAtom, Extent] = {
            Unknown(var): size for var, size in pairs.items() if Unknown(var) not in self.bound
        }
        self.bound.update(outer)
        self._forget()
        self._identified += 1
        try:
            yield
        finally:
            self._identified -= 1
            for atom in outer:
                self.bound.pop(atom, None)
            self._forget()

    def inherit(self, copies: Mapping[Any, Any], renamed: Callable[[Extent], Extent]) -> None:
        """What is known of integers is known of their copies; `renamed` is a size in terms of those."""
        for atom, bounds in list(self.ranges.items()):
            copy = copies.get(atom.var) if isinstance(atom, Unknown) else None
            if copy is not None:
                low, high = (None if bound is None else renamed(bound) for bound in bounds)
                self.ranges.setdefault(Unknown(copy), (low, high))

    def _unify(self, left: Extent, right: Extent) -> None:
        floor = exact_division(left, right)
        if floor is not None:
            self.exact[floor] = floor
            self._forget()
            return
        found = solved(right, left) if is_twin(left) and not is_twin(right) else solved(left, right)
        if found is not None:
            self.bound[found[0]] = found[1]
            self._forget()


def _holds_for_few(size: Extent) -> bool:
    """Whether `size >= 0` for short arrays alone, as ``1 - n`` is: nobody writes a file for those."""
    terms = [(atoms, count) for atoms, count in size.terms.items() if atoms] if isinstance(size, Size) else []
    return bool(terms) and all(count < 0 and all(isinstance(each, Dim) for each in atoms) for atoms, count in terms)
