"""What `operator.itemgetter`, `attrgetter` and `methodcaller` make: functions of an object."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any


def items_of(obj, *items):
    return obj[items[0]] if len(items) == 1 else tuple([obj[item] for item in items])


def attributes_of(obj, *names):
    found = [reduce(getattr, name.split("."), obj) for name in names]
    return found[0] if len(names) == 1 else tuple(found)


def method_of(obj, name, *args, **kwargs):
    return getattr(obj, name)(*args, **kwargs)


GETTERS: dict[type, Any] = {
    operator.itemgetter: items_of,
    operator.attrgetter: attributes_of,
    operator.methodcaller: method_of,
}


def what_is_got(getter: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with which a getter was made."""
    made, args = getter.__reduce__()[:2]
    return ((*made.args, *args), made.keywords) if hasattr(made, "keywords") else (args, {})
