"""Functions that are written with ops as soon as they are called: `np.fliplr(x)` is a `flip`."""

from __future__ import annotations

import inspect
from typing import Any

from ..core.errors import NotSupported
from .base import Op, Rule


class Rewritten(Op):
    """A function that has no op of its own in Core. `rewrite` takes what NumPy's takes."""

    rewrite: Rule

    @classmethod
    def front(cls, args: Any, kwargs: Any, spelling: str | None) -> Any:
        try:
            inspect.signature(cls.rewrite).bind(*args, **kwargs)
        except TypeError as error:
            raise NotSupported(f"{cls.name}() {error}", why="This argument is not supported.",
                               instead="Omit it, or write the operation with other functions."
                               ) from None
        return cls.rewrite(*args, **kwargs)
