"""What a user says about the memory of a reverse sweep: `checkpoint`, `checkpoint_loop`, limits like ``"64 MB"``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .core.errors import BadArgument, NotSupported
from .core.grammar import Loop
from .saving import load, save, steps

UNITS = {"b": 1, "kb": 1000, "mb": 1000 ** 2, "gb": 1000 ** 3, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def bytes_in(memory: Any) -> int | None:
    """A limit as a number of bytes; None for none. Raises `BadArgument` for what is no amount of memory.

    >>> bytes_in("64 MB"), bytes_in("1.5 GiB"), bytes_in(4096)
    (64000000, 1610612736, 4096)
    """
    if memory is None:
        return None
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmg]?i?b)\s*", memory.lower()) if isinstance(memory, str) else None
    if found is None or not float(found[1]):
        raise BadArgument(f"memory is {memory!r}, which is not an amount of memory",
                          instead='Pass a number of bytes, or a string such as "64 MB" or "1.5 GiB".')
    return round(float(found[1]) * UNITS[found[2]])


def checkpoint(function: Callable[..., Any]) -> Any:
    """Returns `function`, of which the reverse sweep keeps only the arguments; it runs the function again instead.

    In a loop that calls it, its arguments are kept for each iteration, and nothing from inside. The function may use
    variables of the enclosing function. Usable as a decorator. It has no effect outside of a derivative. As
    `jax.checkpoint`.

    Raises `NotSupported` in a derivative if the function writes to an array that it was given.

    >>> import numpy as np
    >>> from transformer import grad
    >>> @checkpoint
    ... def layer(w, x):
    ...     return np.tanh(np.sin(w * x) * x)
    >>> def loss(w, x):
    ...     for _ in range(3):
    ...         x = layer(w, x)
    ...     return np.sum(x)
    >>> round(float(grad(loss)(2.0, np.array([0.5, 1.0]))), 3)
    0.282
    """
    from .transform.custom.checkpoint import Checkpointed
    if not callable(function):
        raise BadArgument(f"checkpoint expects a function, got {function!r}",
                          instead="Write @checkpoint above a function, or checkpoint(f)(x).")
    return Checkpointed(function)


remat = checkpoint                              # as JAX calls it, too

# The other meaning of the word, of those who keep the parameters of a training run.
checkpoint.save, checkpoint.load, checkpoint.steps = save, load, steps    # type: ignore[attr-defined]


class checkpoint_loop:
    """Makes the reverse sweep keep only the state at the start of each block of a loop, and run each block again.

    This trades memory for a second run of the loop.

    Args:
        blocks: the number of blocks; by default about the square root of the number of iterations, which keeps the
            least. Around a ``while`` it cannot be given: the first block has one iteration, the next two, and so on.

    It applies to the loops directly inside the ``with``, and has no effect outside of a derivative. Raises
    `BadArgument` unless `blocks` is a positive number.

    >>> import numpy as np
    >>> from transformer import grad
    >>> def decay(u, n):
    ...     with checkpoint_loop(blocks=4):
    ...         for _ in range(n):
    ...             u = u - 0.1 * np.sin(u)
    ...     return np.sum(u)
    >>> grad(decay)(np.array([0.0, 1.0]), 2).round(3)
    array([0.81 , 0.888])
    """

    def __init__(self, blocks: int | None = None) -> None:
        if blocks is not None and (isinstance(blocks, bool) or not isinstance(blocks, int) or blocks < 1):
            raise BadArgument(f"checkpoint_loop(blocks={blocks!r}) is not a number of blocks",
                              instead="Pass a positive integer, or omit it.")
        self.blocks = blocks

    def __enter__(self) -> checkpoint_loop:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __transformer_with__(self, reader: Any, target: Any) -> Callable[[], None]:
        """Marks the loops that are read inside."""
        origin, block, before = reader.builder.origin, reader.builder.block, len(reader.builder.block)

        def leave() -> None:
            loops = [stmt for stmt in block[before:] if isinstance(stmt, Loop)]
            if not loops:
                raise NotSupported("checkpoint_loop contains no loop", origin,
                                   why="A loop over a container is unrolled when the function is transformed.",
                                   instead="Put it directly around a loop over a range or an array.")
            for loop in loops:
                loop.blocks = (self.blocks or 0,)
        return leave
