"""Comments among statements that say which of them no user wrote: those of a reverse sweep, up to the end of a
derivative that the program takes itself."""

from __future__ import annotations

from collections.abc import Iterator

from .grammar import Block, Effect, Function, Stmt
from .walk import all_statements


def is_heading(stmt: Stmt) -> bool:
    """Whether a statement is a comment that tells what follows from what came before."""
    return isinstance(stmt, Effect) and stmt.kind == "comment" and "text" in stmt.attrs


def begins_reverse(stmt: Stmt) -> bool:
    """Whether a statement is the comment from which on a function is its reverse sweep."""
    return is_heading(stmt) and stmt.attrs["text"] == "reverse"        # type: ignore[union-attr]


def reverse_from(body: Block) -> int:
    """At which statement the reverse sweep of a function begins; behind all, where there is none."""
    return next((k for k, stmt in enumerate(body) if begins_reverse(stmt)), len(body))


def is_about_loop(stmt: Stmt) -> bool:
    """Whether a statement is a comment on the loop that follows."""
    return isinstance(stmt, Effect) and stmt.kind == "comment" and "reverse of" in stmt.attrs


def ends_derivative(stmt: Stmt) -> bool:
    """Whether a statement is the end of a derivative that the program takes itself: what follows is its own again."""
    return isinstance(stmt, Effect) and stmt.kind == "comment" and "end of" in stmt.attrs


def has_headings(function: Function) -> bool:
    """Whether some statements of a function are a reverse sweep."""
    return any(is_heading(stmt) or is_about_loop(stmt) for stmt in all_statements(function.body))


def is_ours(stmt: Stmt, before: bool) -> bool:
    """Whether no user wrote what follows a statement, if it is known whether one wrote what came before."""
    return not ends_derivative(stmt) and (before or is_heading(stmt) or is_about_loop(stmt))


def is_all_ours(function: Function) -> bool:
    """Whether no user wrote any of a function: the reverse of one, that does not compute it again first."""
    return function.role == "reverse" and not any(map(is_heading, function.body))


def of_derivative(function: Function) -> Iterator[Stmt]:
    """The statements that no user wrote: where comments say so, in the order in which they stand."""
    ours = is_all_ours(function)
    for stmt in all_statements(function.body):
        ours = is_ours(stmt, ours)
        if ours:
            yield stmt
