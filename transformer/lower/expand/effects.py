"""What compiled code does for its effect: it prints, warns, asserts and raises, in order."""

from __future__ import annotations

from ...core.errors import NotSupported
from ...core.grammar import Effect
from ..nest.nests import emit

KEPT = frozenset({"print", "warn", "log", "assert", "raise"})
IDLE = frozenset({"comment", "forget"})
ERRSTATE = frozenset({"enter", "exit"})


def done(stmt: Effect) -> None:
    """Emits an effect that compiled code has; leaves out those that mean nothing there. Nothing warns of
    what floating point does, so that `np.errstate` has nothing to silence."""
    if stmt.kind in KEPT:
        emit(Effect(stmt.kind, stmt.args, stmt.attrs, stmt.origin))
    elif stmt.kind in ERRSTATE and any(word in stmt.attrs["context"] for word in ("raise", "call", "print", "log")):
        raise NotSupported(f"{stmt.attrs['context']} is not supported in compiled code",
                           why="Compiled code does not track floating point errors.",
                           instead="Test the results, for example with np.isfinite.")
    elif stmt.kind not in IDLE | ERRSTATE:
        raise NotSupported(f"{stmt.kind} cannot be compiled", instead="Leave it out of the compiled function.")
