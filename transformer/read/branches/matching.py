"""`match`: patterns are tried in order; on a dynamic number, literal patterns become a chain of `If`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast

from ...core.errors import BadArgument
from ...core.sizes import Size
from ...ops.value import Value
from ..calls.builtin_calls import is_instance
from ..frames import store
from ..lists.recorded import RecordedList
from ..objects.attributes import attribute
from ..objects.containers import item
from ..operators import compare
from ..values import OrNone
from .conditions import branch, condition, joined, truth

if TYPE_CHECKING:
    from ..reader import Reader

Test = Callable[["Reader", Any, Any, dict[str, Any]], Any]


def read_match(reader: Reader, node: Any) -> None:
    _read_cases(reader, reader.evaluate(node.subject), list(node.cases))


def _read_cases(reader: Reader, subject: Any, cases: list[Any]) -> None:
    if not cases:
        return
    case = cases[0]
    captured: dict[str, Any] = {}
    matches = matched(reader, case.pattern, subject, captured)
    if matches is False:
        return _read_cases(reader, subject, cases[1:])

    def read_case() -> None:
        for name, value in captured.items():
            store(reader, reader.frame, name, value)
        if case.guard is None:
            reader.execute(case.body)
        else:
            guard = condition(reader, case.guard)
            branch(reader, guard, lambda: reader.execute(case.body), lambda: _read_cases(reader, subject, cases[1:]))

    branch(reader, matches, read_case, lambda: _read_cases(reader, subject, cases[1:]))


def matched(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Any:
    """Whether a subject fits a pattern: a bool, or a `Value`; names go into `captured`."""
    subject = reader.usable(subject)
    if isinstance(subject, OrNone) and not isinstance(pattern, gast.MatchSingleton | gast.MatchAs | gast.MatchOr):
        return joined(reader, subject.there, matched(reader, pattern, subject.item, captured), True)
    return TESTS[type(pattern)](reader, pattern, subject, captured)


def _value(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Any:
    return truth(reader, compare(reader, gast.Eq(), subject, reader.evaluate(pattern.value)))


def _singleton(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Any:
    return compare(reader, gast.Is(), subject, pattern.value)


def _as(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Any:
    matches = True if pattern.pattern is None else matched(reader, pattern.pattern, subject, captured)
    if pattern.name is not None:
        captured[pattern.name] = subject
    return matches


def _or(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Any:
    result: Any = False
    for part in pattern.patterns:
        found: dict[str, Any] = {}
        matches = matched(reader, part, subject, found)
        if matches is not False:
            captured.update(found)
        result = joined(reader, result, matches, False)
        if result is True:
            break
    return result


def _all(reader: Reader, tests: list[Callable[[], Any]]) -> Any:
    result: Any = True
    for test in tests:
        result = joined(reader, result, test(), True)
        if result is False:
            break
    return result


def _sequence(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Any:
    if isinstance(subject, (Value, Size, RecordedList)) or not isinstance(subject, (list, tuple)):
        return False
    starred = [k for k, part in enumerate(pattern.patterns) if isinstance(part, gast.MatchStar)]
    count = len(pattern.patterns)
    if len(subject) < count - 1 if starred else len(subject) != count:
        return False
    items = [item(reader, subject, k) for k in range(len(subject))]
    if starred:
        first, after = starred[0], count - starred[0] - 1
        if pattern.patterns[first].name:
            captured[pattern.patterns[first].name] = reader.own(items[first : len(items) - after])
        pairs = [
            *zip(pattern.patterns[:first], items),
            *zip(pattern.patterns[first + 1 :], items[len(items) - after :]),
        ]
    else:
        pairs = list(zip(pattern.patterns, items))
    return _all(reader, [_test(reader, part, value, captured) for part, value in pairs])


def _test(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Callable[[], Any]:
    return lambda: matched(reader, pattern, subject, captured)


def _mapping(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Any:
    if not isinstance(subject, dict):
        return False
    keys = [reader.evaluate(key) for key in pattern.keys]
    if any(key not in subject for key in keys):
        return False
    if pattern.rest:
        captured[pattern.rest] = reader.own({key: item(reader, subject, key) for key in subject if key not in keys})
    return _all(
        reader, [_test(reader, part, item(reader, subject, key), captured) for key, part in zip(keys, pattern.patterns)]
    )


def _class(reader: Reader, pattern: Any, subject: Any, captured: dict[str, Any]) -> Any:
    cls = reader.evaluate(pattern.cls)
    if not is_instance(reader, subject, cls):
        return False
    if pattern.patterns and cls in (int, float, str, bool, bytes, list, tuple, dict, set, complex):
        return matched(reader, pattern.patterns[0], subject, captured)
    names = getattr(cls, "__match_args__", ())
    if len(pattern.patterns) > len(names):
        message = f"{cls.__name__}() accepts {len(names)} positional sub-patterns ({len(pattern.patterns)} given)"
        raise BadArgument(message, reader.builder.origin)
    pairs = [*zip(names, pattern.patterns), *zip(pattern.kwd_attrs, pattern.kwd_patterns)]
    return _all(reader, [_test(reader, part, attribute(reader, subject, name), captured) for name, part in pairs])


TESTS: dict[type, Test] = {
    gast.MatchValue: _value,
    gast.MatchSingleton: _singleton,
    gast.MatchAs: _as,
    gast.MatchOr: _or,
    gast.MatchSequence: _sequence,
    gast.MatchMapping: _mapping,
    gast.MatchClass: _class,
}
STATEMENTS = {gast.Match: read_match}
