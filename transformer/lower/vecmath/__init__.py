"""Vector mathematics: elementary functions of one number which LLVM vectorises in a loop over many.

They are plain Python without branches, of polynomials, selections and bits, in the subset that numba
compiles. `TABLE` names the functions of each dtype; generated code gets copies of those that it calls
(`lower/printing/functions.py`). Errors and speed: `docs/vecmath.md`.
"""

from __future__ import annotations

from .table import COMPILED, FORMS, SUFFIXES, TABLE, compiled, source_of

__all__ = ["COMPILED", "FORMS", "SUFFIXES", "TABLE", "compiled", "source_of"]
