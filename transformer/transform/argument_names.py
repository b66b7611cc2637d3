"""What the arguments of a transformed function are called, as far as signatures tell.

    hvp(f) of def f(w, *xs), called with four arguments      w, xs[0], xs[1], w_dot
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import Parameter as Kinds
from typing import Any

from ..core.naming import TANGENT, cotangent_name, derived
from ..read.calls.subfunctions import signature_for
from .derived import taken_apart
from .modes import Mode, Pullback

BY_POSITION = Kinds.POSITIONAL_ONLY, Kinds.POSITIONAL_OR_KEYWORD


def passed_names(function: Any, count: int) -> list[str]:
    """The names of as many arguments passed by position: those of the user's function, then those that
    transformations add.

    >>> passed_names(lambda w, *xs: w, 3)
    ['w', 'xs[0]', 'xs[1]']
    """
    user, modes = taken_apart(function)
    parameters = parameters_of(user)
    names = [p.name for p in parameters if p.kind in BY_POSITION]
    added = [name for k, mode in enumerate(modes)
             for name in extra_names(mode, [p.name for p in parameters], modes[:k])]
    own = max(count - len(added), 0)
    rest = next((p.name for p in parameters if p.kind is Kinds.VAR_POSITIONAL), None)
    beyond = [f"argument {k}" if rest is None else f"{rest}[{k - len(names)}]" for k in range(len(names), own)]
    return [*names[:own], *beyond, *added][:count]


def parameters_of(function: Any) -> list[Kinds]:
    """The parameters of a function; none where it has no signature."""
    try:
        return list(signature_for(function).parameters.values())
    except (TypeError, ValueError, AttributeError):
        return []


def extra_names(mode: Mode, names: Sequence[str], before: Iterable[Mode] = ()) -> list[str]:
    """What the arguments are called that a transformation adds, after others.

    >>> from .modes import Pushforward
    >>> extra_names(Pushforward((0, "b")), ["w", "b"])
    ['dw', 'db']
    """
    if not mode.extras or isinstance(mode, Pullback):
        return [cotangent_name(names)] * mode.extras
    wrt = mode.wrt                                                      # type: ignore[attr-defined]
    pattern = TANGENT if any(other.differentiates for other in before) else mode.tangents
    return [derived(key if isinstance(key, str) else name_at(key, names), pattern) for key in keys_in(wrt)]


def keys_in(wrt: Any) -> tuple[Any, ...]:
    return wrt if isinstance(wrt, tuple) else () if wrt is None else (wrt,)


def name_at(position: int, names: Sequence[str]) -> str:
    return names[position] if -len(names) <= position < len(names) else f"argument {position}"
