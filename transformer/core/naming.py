"""Names made of others."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from keyword import iskeyword

FIRST, TANGENT, COTANGENT = PATTERNS = "d{}", "{}_dot", "{}_bar"      # how derivatives are named
PART = ""                                                  # of what is not all of a derivative, but is called after it
LANE = "{}_lane"                                           # and what one lane has of them all


class OwnName(str):
    """A name of ours, of what is bound wherever it is used."""


class ResultName(OwnName):
    """That of what a `return` under a condition gives, until the program calls it something."""


def derived(name: str, pattern: str = FIRST) -> str:
    """What is called after a variable, by a pattern; a record stays one, and no name is a word of Python's own.

    >>> derived("x"), derived("x_k", TANGENT), derived("x_k"), derived("el")
    ('dx', 'x_dot_k', 'dx_k', 'del_')
    """
    own = re.sub(r"(_k)+$", "", name) or name
    made = pattern.format(own) + name[len(own):]
    return f"{made}_" if iskeyword(made) else made


def numbered(name: str, k: int) -> str:
    """The k-th of several of one name.

    >>> numbered("x", 1), numbered("x", 2), numbered("x1", 2), numbered("x_dot", 2)
    ('x', 'x2', 'x1_2', 'x2_dot')
    """
    if k == 1:
        return name
    before, behind = _around_number(name)
    return f"{before}{k}{behind}"


@lru_cache(1024)
def _around_number(name: str) -> tuple[str, str]:
    """What stands before the number of a name, and behind it."""
    found = re.fullmatch(r"(.+)(_dot|_bar)", name)
    stem, mark = (found[1], found[2]) if found else (name, "")
    return f"{stem}_" if stem[-1].isdigit() else stem, mark


def cotangent_name(parameters: Collection[str]) -> str:
    """What the cotangent of a result is called: `dy`, unless something is called `y`, which has one of its own.

    >>> cotangent_name(["x"]), cotangent_name(["x", "y"])
    ('dy', 'dresult')
    """
    return "dresult" if {"y", "dy"} & set(parameters) else "dy"
