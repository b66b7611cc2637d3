"""`xs.extend(…)` and `xs += …`, of a list whose items are known by items whose number the program computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.value import Value
from ..branches.journal import Item
from ..objects.containers import check_owned
from ..raising.demand import Roots
from .recorded import RecordedList, all_parts_of, parts_of

if TYPE_CHECKING:
    from ..reader import Reader


def extended_by(reader: Reader, items: Any, added: Any) -> tuple[Any, ...]:
    """What is to be added; nothing where it has been put behind the items, as its length is computed."""
    from ..calls.builtin_calls import made_list
    from ..loops.comprehensions import listed

    added = listed(reader, added)
    if isinstance(added, Value) and added.ndim and _is_computed(reader, added.shape[0]):
        added = reader.usable(made_list(reader, added))
    if not isinstance(items, list) or not isinstance(added, RecordedList) or added.within is not None:
        return (added,)
    if not _is_computed(reader, added.length(reader)):
        return (added,)
    check_owned(reader, items, "extend")
    longer = RecordedList(items, (*parts_of(items), *all_parts_of(reader, added)))
    reader.journal.write(Item(reader.contents, id(items)), longer)
    return ()


def _is_computed(reader: Reader, length: Any) -> bool:
    """Whether a length rests on what no argument decides and no loop that could be unrolled."""
    roots = Roots(reader)
    roots.follow(length)
    return bool(roots.others)
