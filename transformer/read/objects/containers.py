"""Tuples, lists, dictionaries, sets and strings: their methods, items, and iteration over them.

Only what was made by the code being read may be changed; every change goes through the journal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ...core.errors import NotSupported
from ...core.sizes import Size
from ...ops.value import Value
from ..branches.journal import Contents, Keys, base_of_dict
from ..branches.structures import Slot
from ..kinds import described
from ..lists.finding import count_of, index_of
from ..lists.joining import in_arrays
from ..lists.open_lists import CHANGES, OpenList, call_change
from ..lists.opening import open_known, open_to_change
from ..lists.picking import replaced
from ..lists.recorded import RecordedList, Recording, recorded
from ..raising.demand import Unroll, need, static
from ..raising.errors import as_user_error
from ..values import ABSENT, UNKNOWN, ContainerMethod, Lazy, Producer, has_dynamic, known_of, stripped
from .deques import CHANGING, changing
from .derived_builtins import base_of, raw_item
from .keys import FIRST_IS_KEY, ITEM, KEY, hashed
from .object_order import class_of_objects, sort_objects
from .objects import hold_dynamic

if TYPE_CHECKING:
    from ..reader import Reader

METHODS: dict[type, frozenset[str]] = {
    kind: frozenset(name for name in dir(kind) if not name.startswith("_"))
    for kind in (list, dict, set, tuple, str, frozenset)
}
METHODS[list] |= CHANGING


READING = frozenset(
    {
        "index",
        "count",
        "copy",
        "get",
        "keys",
        "values",
        "items",
        "fromkeys",
        "union",
        "intersection",
        "difference",
        "symmetric_difference",
        "issubset",
        "issuperset",
        "isdisjoint",
    }
)


FINDING = {"index": index_of, "count": count_of}


def container_kind(value: Any) -> type | None:
    """The built-in container that a value is an instance of."""
    for kind in (list, dict, set, tuple, str, frozenset):
        if isinstance(value, kind):
            return kind
    return None


def call_method(reader: Reader, method: ContainerMethod, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`container.name(*args)`."""
    container, name = reader.usable(method.container), method.name
    if name == "extend" and len(args) == 1 and id(container) not in reader.lists.deques:
        from ..lists.extending import extended_by

        args = extended_by(reader, container, args[0])
        if not args:
            return None
    if name == "sort" and isinstance(container, list | RecordedList) and class_of_objects(reader, container):
        check_owned(reader, getattr(container, "home", container), name)
        return sort_objects(reader, container, *args, **kwargs)
    if isinstance(container, (RecordedList, Recording)):
        return _of_recorded(reader, container, name, args, kwargs)
    if isinstance(container, list) and _is_of_computed(reader, name, container, args, kwargs):
        check_owned(reader, container, name)
        held = open_known(reader, container, *_what_is_open(name))
        return call_change(reader, held, name, args, kwargs)
    writer = changing(reader, container, name) or WRITERS.get((container_kind(container), name))
    if writer is not None:
        return _written(reader, writer, container, name, args, kwargs)
    if isinstance(container, str):
        return _of_text(reader, container, name, args, kwargs)
    return _read_only(reader, container, name, args, kwargs)


def _written(
    reader: Reader,
    writer: Callable[..., Any],
    container: Any,
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """A change of a container, by the function that makes such a change."""
    if name == "remove" and has_dynamic((container, args)):
        raise _among_computed(reader, name)
    check_owned(reader, container, name)
    if args and (container_kind(container), name) in FIRST_IS_KEY:
        args = (hashed(reader, args[0], KEY if isinstance(container, dict) else ITEM), *args[1:])
    with as_user_error(reader):
        return writer(reader, container, *args, **kwargs)


def _found_among_computed(reader: Reader, container: Any, name: str, args: tuple[Any, ...]) -> Any:
    """What is found in a list of numbers that the program computes, or of such a number."""
    rows = in_arrays(reader, container) if len(args) == 1 and isinstance(container, list | tuple) else None
    if rows is None or not isinstance(rows.template, Slot):
        raise _among_computed(reader, name)
    return FINDING[name](reader, recorded(reader, (rows,)), *args)


def _is_of_computed(reader: Reader, name: str, items: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the program computes where a list changes, or what changes places."""
    if name == "sort" and kwargs.get("key") is not None:
        return has_dynamic(_tried(reader, items, kwargs["key"]))
    return name in ("pop", "insert") and has_dynamic(args[:1]) or (
        name in ("sort", "remove") and has_dynamic((items, args)))


def _tried(reader: Reader, items: list[Any], key: Any) -> list[Any]:
    """The keys of items, of which nothing is left."""
    mark = reader.journal.mark()
    try:
        with reader.builder.nested():
            return [reader.call(key, (item,), {}) for item in items]
    finally:
        reader.journal.rollback(mark)


def _what_is_open(name: str) -> tuple[str, ...]:
    """What a change rests on that the program computes, for an error."""
    if name in ("pop", "insert"):
        return (f"`{name}` of a list at a computed index",)
    return f"`{name}` of a list with computed items", ORDER


ORDER = "The order of the items is not known when the function is transformed."


def _among_computed(reader: Reader, name: str) -> NotSupported:
    return NotSupported(
        f"`{name}` of a list with computed items is not supported",
        reader.builder.origin,
        why=ORDER,
        instead="Convert the list to an array first, np.array(items), and use np.argmin, np.argmax or a mask.",
    )


def _read_only(reader: Reader, container: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a method gives that changes nothing."""
    if name not in READING:
        raise NotSupported(
            f"the method {name!r} of {described(container)} is not supported",
            reader.builder.origin,
            instead="Use a loop, or a supported method such as append, insert, pop, get or items.",
        )
    if name in FINDING and has_dynamic((container, args)):
        return _found_among_computed(reader, container, name, args)
    if isinstance(container, dict) and args:
        args = (hashed(reader, args[0], KEY), *args[1:])
    with as_user_error(reader):
        result = getattr(container, name)(*args, **kwargs)
    if name == "get" and args[0] in container:
        return item(reader, container, args[0])
    if name in ("values", "items"):
        pairs = [(key, item(reader, container, key)) for key in container]
        view = [value for _, value in pairs] if name == "values" else pairs
        reader.lists.views[id(view)] = view, container, name
        return view
    return reader.own(result) if isinstance(result, (list, dict, set)) else result


def _of_text(reader: Reader, text: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if name == "format" and (has_dynamic((args, kwargs)) or hold_dynamic((args, kwargs))):
        from ..raising.texts import format_call

        return format_call(text, args, kwargs)
    args = tuple(iterated(reader, arg) if name == "join" else arg for arg in args)
    args = tuple(stripped(arg) if not has_dynamic(arg) else static(reader, arg, "a part of a string") for arg in args)
    with as_user_error(reader):
        return getattr(text, name)(*args, **kwargs)


def _of_recorded(reader: Reader, container: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(container, OpenList) and name in CHANGES:
        return call_change(reader, container, name, args, kwargs)
    if name == "append":
        return container.append(reader, args[0])
    if name == "extend" and isinstance(container, RecordedList):
        return container.extend(reader, args[0])
    if name in CHANGES and isinstance(container, RecordedList):
        held = open_to_change(reader, container, f"`{name}` of a list that a loop fills")
        return call_change(reader, held, name, args, kwargs)
    if name == "extend" and isinstance(reader.usable(args[0]), (list, tuple)):
        for added in iterated(reader, args[0]):
            container.append(reader, added)
        return None
    if name in FINDING and isinstance(container, RecordedList) and len(args) == 1:
        return FINDING[name](reader, container, *args)
    if name == "copy" and isinstance(container, RecordedList):
        return recorded(reader, container.all_parts(reader))
    raise container.cannot_change(reader, f"`{name}` of a list that a loop fills")


def check_owned(reader: Reader, container: Any, what: str) -> None:
    if not reader.owns(container):
        kind = described(container).partition(" ")[2]
        shown = f"`{what}`" if what.isidentifier() else what
        raise NotSupported(
            f"{shown} on a {kind} that exists outside the function is not supported",
            reader.builder.origin,
            why="A transformed function must not have side effects.",
            instead=f"Copy the {kind} first, change the copy, and return it.",
        )
    reader.aliases.check_write(reader, container)


# Each changes a container in place; what is given is checked by Python on a copy first.


def _changed(name: str) -> Callable[..., Any]:
    def change(reader: Reader, container: Any, *args: Any, **kwargs: Any) -> Any:
        copy = base_of(container)(container)
        args = tuple(iterated(reader, arg) if name in ("extend", "update") else arg for arg in args)
        result = getattr(copy, name)(*args, **kwargs)
        reader.journal.write(Contents(container), tuple(copy))
        return result

    return change


def _dict_changed(name: str) -> Callable[..., Any]:
    def change(reader: Reader, container: Any, *args: Any, **kwargs: Any) -> Any:
        copy = base_of_dict(container)(container)
        result = getattr(copy, name)(*args, **kwargs)
        for key in [*(key for key in container if key not in copy), *copy]:
            if copy.get(key, ABSENT) is not container.get(key, ABSENT):
                reader.journal.write_item(container, key, copy.get(key, ABSENT))
        if tuple(copy) != tuple(container):
            reader.journal.write(Keys(container), tuple(copy))
        return result

    return change


WRITERS: dict[Any, Callable[..., Any]] = {
    **{
        (list, name): _changed(name)
        for name in ("append", "extend", "insert", "pop", "clear", "reverse", "remove", "sort")
    },
    **{
        (set, name): _changed(name)
        for name in ("add", "discard", "remove", "update", "clear", "intersection_update", "difference_update",
                     "symmetric_difference_update")
    },
    **{(dict, name): _dict_changed(name)
       for name in ("update", "pop", "setdefault", "clear", "popitem", "move_to_end")},
}


def item(reader: Reader, container: Any, key: Any) -> Any:
    """`container[key]` for a static key; items of containers from outside are lifted."""
    if isinstance(container, defaultdict) and key not in container and container.default_factory:
        set_item(reader, container, key, reader.call(container.default_factory, (), {}))
    if isinstance(container, list) and isinstance(key, int) and key < 0 and reader.loops:
        reader.loops[-1].find_append(container)
    get = raw_item if reader.is_local(container) else reader.outside.item
    with as_user_error(reader):
        return reader.usable(get(container, key))


def set_item(reader: Reader, container: Any, key: Any, value: Any) -> None:
    """`container[key] = value`."""
    if isinstance(container, list) and isinstance(key, Value | Size) and known_of(key) is UNKNOWN:
        check_owned(reader, container, "item assignment")
        return reader.journal.write(Contents(container), tuple(replaced(reader, container, key, value)))
    key = static_key(reader, container, key)
    if isinstance(container, dict) and container.get(key, ABSENT) is value:
        return
    if (
        isinstance(container, list)
        and isinstance(key, int)
        and -len(container) <= key < len(container)
        and container[key] is value
    ):
        return
    check_owned(reader, container, "item assignment")
    if isinstance(container, dict):
        reader.journal.write_item(container, key, value)
        return
    copy = list(container)
    with as_user_error(reader):
        copy[key] = iterated(reader, value) if isinstance(key, slice) else value
    reader.journal.write(Contents(container), tuple(copy))


def static_key(reader: Reader, container: Any, key: Any) -> Any:
    """A key or an index as a Python object; of a slice of a list, its bounds."""
    if not isinstance(container, list):
        return hashed(reader, key, KEY)
    if isinstance(key, slice):
        return slice(*(static(reader, bound, "the bounds of this slice") for bound in (key.start, key.stop, key.step)))
    return static(reader, key, "the index of a list")


def delete_item(reader: Reader, container: Any, key: Any) -> None:
    """`del container[key]`."""
    if isinstance(container, RecordedList):
        opened = open_to_change(reader, container, "`del` of an item of a list that a loop filled")
        return opened.delete_item(reader, key)
    if isinstance(container, Recording):
        raise container.cannot_change(reader, "`del` of an item of a list that a loop filled")
    own = getattr(type(container), "__delitem__", None)
    if hasattr(own, "__code__"):
        reader.call(own, (container, key), {})
        return
    check_owned(reader, container, "del")
    if isinstance(container, list) and has_dynamic((key,)) and not isinstance(key, slice):
        return open_known(reader, container, "`del` of a list item at a computed index").delete_item(reader, key)
    key = static_key(reader, container, key)
    copy = dict(container) if isinstance(container, dict) else list(container)
    with as_user_error(reader):
        del copy[key]
    if isinstance(container, dict):
        reader.journal.write_item(container, key, ABSENT)
    else:
        reader.journal.write(Contents(container), tuple(copy))


def _need_number(reader: Reader, value: Any, count: Size) -> NoReturn:
    """Raises what makes the number of items known: also the loop, to be unrolled, that left some of them out."""
    try:
        need(reader, count, "the number of items here")
    except NotSupported as refusal:
        if isinstance(value, RecordedList) and value.loops():
            raise Unroll(value.loops()[-1], refusal) from None
        raise
    raise AssertionError("a size that is not known cannot be had")


def iterated(reader: Reader, value: Any) -> list[Any]:
    """The items of what is unpacked or iterated over here and now; their number must be known."""
    from ..loops.iteration import items_of, iteration_of

    if isinstance(value, Lazy | Producer):
        value = items_of(reader, value)
    iteration = iteration_of(reader, value)
    count = iteration.length
    if isinstance(count, Size):
        _need_number(reader, value, count)
    return [iteration.element(k) for k in range(count)]
