"""How examples go to devices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Split:
    """How `count` examples go to devices: one to each, or `each` examples. The last one is repeated where there are
    not enough. Other processes have devices `elsewhere`, and examples of their own for these."""

    count: int
    devices: int
    each: int | None
    elsewhere: int = 0

    @cached_property
    def is_padded(self) -> bool:
        return self.each is not None and self.each * self.devices > self.count

    def parts(self, array: Any, axis: int) -> list[Any]:
        """What each device gets of an array."""
        if not axis and self.each is None:
            return [array[k] for k in range(self.devices)]
        return [self._part(array, axis, k) for k in range(self.devices)]

    def _part(self, array: Any, axis: int, k: int) -> Any:
        before = (slice(None),) * axis
        if self.each is None:
            return array[(*before, k)]
        if (k + 1) * self.each <= self.count:
            return array[(*before, slice(k * self.each, (k + 1) * self.each))]
        return array[(*before, np.minimum(np.arange(k * self.each, (k + 1) * self.each), self.count - 1))]
