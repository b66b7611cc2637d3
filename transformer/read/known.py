"""What a reader knows while it reads, by subject: of the arguments, lists, classes of numbers, and refusals."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import Origin, TransformError
from ..core.grammar import Atom, Var
from ..ops.value import Value
from .branches.asked_classes import Question


@dataclass
class OfArguments:
    """The arguments of what is read: their `values`, in order, and the `paths` by which their variables are found in
    them (``params['w']``). `mapped` are the paths of those that differ from lane to lane, `names` those of all
    parameters, `named_items` variables which the program has called something, `containers` the ones that hold them, by
    identity. `first_writes` says where an array is first written, by identity, `asked_apart` of which arrays the
    function asks if they are one, `numbers_needed` which ones would change for two names if they were arrays."""

    mapped: Collection[str] = ()
    values: list[Value] = field(default_factory=list)
    paths: dict[Var, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    named_items: set[Var] = field(default_factory=set)
    containers: dict[int, Any] = field(default_factory=dict)
    first_writes: dict[int, Origin | None] = field(default_factory=dict)
    asked_apart: list[tuple[Value, Value]] = field(default_factory=list)
    numbers_needed: dict[Var, None] = field(default_factory=dict)


@dataclass
class OfLists:
    """Lists, by identity: which ones are `deques`, with their greatest length, which are `views`, as `d.items()`, and
    of what, and the `tokens` that stand for the memory of items of those that loops change. `joined` has parts of
    lists, and what they are behind each other. `mixed_items` says whether some items are Python's numbers and some
    NumPy's, `whole_items` whether some are Python's ints among floats."""

    deques: dict[int, int | None] = field(default_factory=dict)
    views: dict[int, Any] = field(default_factory=dict)
    tokens: dict[int, Any] = field(default_factory=dict)
    joined: dict[tuple[int, ...], Any] = field(default_factory=dict)
    mixed_items: bool = False
    whole_items: bool = False


@dataclass
class OfClasses:
    """Numbers whose class depends on the path: `sources` has what numbers are that paths leave, `mixed` those that are
    Python's on some paths and NumPy's on others, `left_by_loops` those that are so because a loop may have no
    iteration, `questions` what the program asks about classes."""

    sources: dict[Var, list[Atom]] = field(default_factory=dict)
    mixed: set[Var] = field(default_factory=set)
    left_by_loops: set[Var] = field(default_factory=set)
    questions: list[Question] = field(default_factory=list)


@dataclass
class OfRefusals:
    """What was refused for what: the `loops`, and the `forks` (an `if`, and a name that is not one thing behind it)."""

    loops: dict[TransformError, Any] = field(default_factory=dict)
    forks: dict[TransformError, tuple[Origin, str]] = field(default_factory=dict)
