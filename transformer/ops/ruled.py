"""What a function with a rule of its own returned: where its rule takes the place of its statements."""

from __future__ import annotations

from .base import Op


class Ruled(Op):
    """The first `count` operands as they are; the others are what they were computed from by a function
    with a rule. `use` knows the rule: derivatives pass through it, and not through the statements of
    the function. When no derivative is to be taken any more, only another name for the values is left.
    """

    variadic = True
    derivative = None

    def types(xs, count=1, use=None):
        return tuple(xs[:count])

    def passing(args, count=1, use=None):
        return args[count:]

    def run(*xs, count=1, use=None):
        return tuple(xs[:count]) if count > 1 else xs[0]
