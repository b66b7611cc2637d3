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
        raise NotSupported(f"{stmt.attrs['context']} in compiled code", why="It does not see what floating point does.",
                           instead="Test the results, as by np.isfinite.")
    elif stmt.kind not in IDLE | ERRSTATE:
        raise NotSupported(f"{stmt.kind} has no compiled form", instead="Leave it out of what is compiled.")
