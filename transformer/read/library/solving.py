"""Solutions by a routine of the user's, as `lax.custom_root` and `lax.custom_linear_solve`."""

from __future__ import annotations

from ..calls.given_functions import own, solved


def root_by(f, initial_guess, solve, tangent_solve, has_aux=False):
    def search(rest, f, guess):
        return solve(f, guess)

    return solved(search, own(f), f, initial_guess)


def solution_by(matvec, b, solve, transpose_solve=None, symmetric=False, has_aux=False):
    def search(rest, matvec, b):
        return solve(matvec, b)

    return solved(search, own(lambda x: matvec(x) - b), matvec, b)
