"""Totals, as `total += x` and `sum` of a generator form them.

    total = 0.0
    total += np.sum(w ** 2)         total = np.sum(w ** 2), where this is read once
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.value import Value
from ..operators import binary
from ..values import is_array, known_of, may_be_array

if TYPE_CHECKING:
    from ..reader import Reader


def added_to(reader: Reader, total: Any, item: Any) -> Any:
    """`total + item`; a total that begins as 0 is its first float, so that one of nothing but -0.0 is -0.0."""
    if not _begins(total) or not isinstance(item, Value) or item.dtype.kind not in "fc":
        return binary(reader, operator.add, total, item)
    if may_be_array(item) and not item.ndim:         # a sum is a number, not an array without axes
        return binary(reader, operator.add, total, item)
    return reader.call(np.copy, (item,), {}) if is_array(item) else item


def _begins(total: Any) -> bool:
    """Whether it is a 0 of Python's, which does not decide a dtype."""
    if isinstance(total, Value) and (total.ndim or not total.type.weak):
        return False
    known = known_of(total)
    return isinstance(known, int | float) and not isinstance(known, bool) and known == 0
