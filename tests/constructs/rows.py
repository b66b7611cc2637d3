"""A row of the table: a construct, a program that uses it, and what becomes of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from differences import map_leaves

from transformer import jvp
from transformer.core.errors import TransformError

Program = Callable[..., Any]
Mark = Callable[[Program], Program]

VECTOR = np.array([0.3, -1.2, 2.1])
MATRIX = np.array([[1.1, -0.4, 0.7], [0.2, 1.9, -0.8]])


@dataclass(frozen=True)
class Row:
    """`error` is what the program is refused with; None for what is supported."""

    construct: str
    program: Program
    args: tuple[Any, ...]
    remark: str
    error: type[TransformError] | None = None

    @property
    def name(self) -> str:
        return f"{self.program.__module__.rpartition('.')[2]}.{self.program.__name__}"

    def value(self) -> Any:
        """What the program gives, as its derivative along a direction gives it as well."""
        moving = map_leaves(_one_like, self.args[0])
        return jvp(self.program, copy.deepcopy(self.args), (moving, *[None] * len(self.args[1:])))[0]

    def refusal(self) -> TransformError:
        """The error that the program is refused with when its derivative is asked for."""
        try:
            self.value()
        except TransformError as error:
            return error
        raise AssertionError(f"{self.name} is not refused")


def _one_like(leaf: Any) -> Any:
    """A tangent for a leaf; None where it is not a number."""
    return leaf * 0 + 1 if isinstance(leaf, float | complex | np.ndarray | np.generic) else None


@dataclass
class Section:
    """Rows under one heading. The first argument of a program moves; the others stay as they are."""

    title: str
    rows: list[Row] = field(default_factory=list)

    def supported(self, construct: str, remark: str = "", args: tuple[Any, ...] = (1.3,)) -> Mark:
        return self._marked(lambda program: Row(construct, program, args, remark))

    def refused(
        self,
        construct: str,
        error: type[TransformError],
        remark: str = "",
        args: tuple[Any, ...] = (1.3,),
    ) -> Mark:
        return self._marked(lambda program: Row(construct, program, args, remark, error))

    def _marked(self, made: Callable[[Program], Row]) -> Mark:
        def mark(program: Program) -> Program:
            self.rows.append(made(program))
            return program

        return mark
