"""What users call: grad, value_and_grad, jvp, vjp, linearize, check_grads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from . import tree
from .core.errors import BadArgument
from .core.halves import kind_of
from .core.on_devices import on_host
from .ops.identity import stop_gradient
from .run.dispatch import Dispatcher, Entry, Held
from .run.keeping import kept, value_at
from .run.native import arguments_on_host
from .sourced import Sourced
from .taking import taking_arrays
from .transform.derived import innermost
from .transform.modes import AS_TUPLES, GIVE_ONE, ONE_FOR_EACH, Gradient, Mode, Pullback, Pushforward, Wrt
from .wrapping import argument_names, check_callable, copy_names, told_here

__all__ = ["Transformed", "check_grads", "grad", "jvp", "linearize", "stop_gradient", "value_and_grad",
           "vjp"]


class Transformed(Sourced):
    """A transformed function. Call it like the original; its source can be read and saved.

    >>> import numpy as np
    >>> def f(x):
    ...     return np.sum(x ** 2)
    >>> g = grad(f)
    >>> g(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> print(g.source.strip())
    def f_grad(x):
        # x: f64[n]
        dx = 2 * x
        return dx
    """

    def __init__(self, function: Callable[..., Any], mode: Mode, static_names: frozenset[str] = frozenset()) -> None:
        self.function = function
        self.mode = mode
        user = innermost(self)
        self._dispatcher = Dispatcher(self._generate, functools.partial(argument_names, user), user, static_names)
        self._dispatcher.whole = self
        copy_names(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._dispatcher.call(args, kwargs)

    def hold(self, places: Sequence[Any], *args: Any) -> Held:
        """The generated function for arguments like these, with all that it takes from outside as it is
        now. The first arguments were copied from `places`: where two of those share memory, what the
        function writes to one would be seen in the other."""
        return self._dispatcher.hold(args, (*places, *args[len(places):]))

    def __repr__(self) -> str:
        return f"<{self.mode.suffix} of {getattr(self.function, '__qualname__', self.function)!s}>"

    def _made_of(self) -> tuple[Any, ...]:
        return self.function, self.mode

    def _generate(self, *described: Any) -> Entry:
        from .run.generating import generate_entry
        return generate_entry(self, *described)

    def stages(self, *args: Any, **kwargs: Any) -> dict[str, str]:
        """The text of every stage for arguments like these, by name and in order."""
        from .run.generating import stages_for_call
        return stages_for_call(self, *arguments_on_host(args, kwargs), self._dispatcher)

    def compiled_for(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """The generated Python function for arguments like these."""
        return self._entry(args, kwargs).function

    def save(self, path: str | Path, *args: Any, **kwargs: Any) -> None:
        """Writes a standalone source file for arguments like these.

        Raises `FileExistsError` if the file exists.
        """
        from .run.files import write_new
        from .run.generating import standalone_source
        write_new(Path(path), standalone_source(self, *arguments_on_host(args, kwargs)))


def grad(function: Callable[..., Any] | None = None, argnums: Wrt = 0, has_aux: bool = False,
         holomorphic: bool = False, memory: int | str | None = None) -> Any:
    """Returns a function that computes the gradient of `function`, which returns one number.

    Args:
        function: takes floating-point arrays and numbers, or pytrees of them, among its arguments.
        argnums: the arguments to differentiate: a position, a name, or a tuple of these.
        has_aux: `function` returns ``(number, aux)``, and the result is ``(gradient, aux)``.
        holomorphic: `function` is complex and holomorphic.
        memory: a limit for the records of a counted loop, such as ``"64 MB"``. Where they would exceed it, parts
            of the loop are run again in the reverse sweep.

    Returns:
        A function of the same arguments. A gradient has the structure, shapes and dtypes of its argument; for a
        tuple of `argnums`, the result is a tuple of gradients. Without `function`, a decorator.

    Raises, when called:
        NotDifferentiable: an argument to differentiate is an integer.
        BadArgument: the result is not a scalar, or `argnums` does not fit.
        NotSupported: something cannot be transformed. The error has its place.

    As `jax.grad`, except for the conventions in docs/conventions.md.

    >>> grad(lambda x: x ** 3)(2.0)
    12.0
    """
    return _transformed(function, grad, Gradient(_wrt(argnums), False, has_aux, holomorphic, _bytes(memory)))


def value_and_grad(function: Callable[..., Any] | None = None, argnums: Wrt = 0, has_aux: bool = False,
                   holomorphic: bool = False, memory: int | str | None = None) -> Any:
    """Like `grad`, but returns ``(value, gradient)``; with `has_aux`, ``((value, aux), gradient)``.

    >>> value_and_grad(lambda x: x ** 3)(2.0)
    (8.0, 12.0)
    """
    return _transformed(function, value_and_grad, Gradient(_wrt(argnums), True, has_aux, holomorphic, _bytes(memory)))


def _bytes(memory: Any) -> int | None:
    if memory is None:
        return None
    from .checkpointing import bytes_in
    return bytes_in(memory)


def _transformed(function: Callable[..., Any] | None, again: Any, mode: Mode) -> Any:
    if function is None:
        return lambda f: Transformed(f, mode)
    check_callable(function, again.__name__)
    own = getattr(function, "__transformer_gradient__", None)
    return Transformed(function, mode) if own is None else own(mode)


def _wrt(argnums: Any) -> Wrt:
    keys = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    for key in keys:
        if isinstance(key, bool) or not isinstance(key, (int, str, np.integer)):
            raise told_here(BadArgument(f"argnums is {argnums!r}, which is not the position or name of an argument",
                                     instead="Write argnums=0, argnums='w' or argnums=(0, 1)."))
    keys = tuple(int(key) if isinstance(key, np.integer) else key for key in keys)
    return keys if isinstance(argnums, (tuple, list)) else keys[0]


def _read_by(reading: str) -> Callable[[Any], Any]:
    """Says which function of `transform.inside` a call stands for in a function that is read."""
    def marked(function: Any) -> Any:
        def read(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            from .transform import inside
            return getattr(inside, reading)(reader, args, kwargs)
        function.__transformer_read__ = read
        return function
    return marked


def _reads(given: Any, reading: str, *known: Any) -> Any:
    """Says which function of `transform.inside` a call of what was given out stands for, where it is read."""
    def read(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from .transform import inside
        return getattr(inside, reading)(reader, *known, args, **kwargs)
    given.__transformer_read__ = read
    return given


@taking_arrays
@_read_by("read_jvp")
def jvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Computes ``(function(*primals), tangent)``: the value and the derivative along `tangents` (forward mode).

    Args:
        function: takes the primals; may return anything.
        primals: a tuple of arguments.
        tangents: a tuple with one entry per primal, of the same structure, shapes and dtypes. None, also inside a
            pytree, stands for a primal that carries no derivative.

    Raises `BadArgument` if tangents do not fit their primals. As `jax.jvp`.

    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    """
    check_callable(function, "jvp")
    moving = _matched_here(function, primals, tangents)
    result: tuple[Any, Any] = pushforward(function, tuple(moving))(*primals, *moving.values())
    return result


def _matched_here(function: Callable[..., Any], primals: Any, tangents: Any) -> dict[int, Any]:
    """`matched`, whose errors say where the function is, or is called."""
    try:
        return matched(function, primals, tangents)
    except BadArgument as error:
        raise told_here(error, function, error.argument) from None


@taking_arrays
@_read_by("read_vjp")
def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Computes ``(function(*primals), pullback)`` (reverse mode).

    `pullback` takes a cotangent with the structure of the result, and returns a tuple with one cotangent per primal,
    None for a primal that carries no derivative. None in a cotangent stands for zeros. Raises `BadArgument` if the
    cotangent does not fit the result. As `jax.vjp`.

    >>> y, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> pullback(1.0)
    (3.0, 2.0)
    """
    check_callable(function, "vjp")
    then = kept(primals)
    result = value_at(function, primals, then)
    model = tree.map(on_host, result)
    held = pullback(function).hold(primals, *then, _cotangent(model, None))

    def pulled(cotangent: Any) -> tuple[Any, ...]:
        try:
            fitted = _cotangent(model, cotangent)
        except BadArgument as error:
            raise told_here(error, function, "return") from None
        found: tuple[Any, ...] = held(*then, fitted)
        return found
    return result, _reads(pulled, "pulled_from", function, held, then)


@taking_arrays
@_read_by("read_linearize")
def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Computes ``(function(*primals), f_jvp)``, where ``f_jvp(*tangents)`` is the derivative at the primals.

    As `jax.linearize`.

    >>> y, line = linearize(lambda x: x ** 2, 3.0)
    >>> line(1.0)
    6.0
    """
    check_callable(function, "linearize")
    then = kept(primals)
    result = value_at(function, primals, then)
    still = {k: zeros for k, primal in enumerate(then) if (zeros := _standing_still(primal)) is not None}
    held = pushforward(function, tuple(still)).hold(primals, *then, *still.values()) if still else None

    def pushed(*tangents: Any) -> Any:
        moving = _matched_here(function, then, tangents)
        assert held is not None                     # else there was nothing that may have a tangent
        return held(*then, *{**still, **moving}.values())[1]
    return result, _reads(pushed, "pushed_from", function, held, then)


def _standing_still(primal: Any) -> Any:
    """A tangent of zeros; None where nothing in a primal has one."""
    zeros = tree.map(lambda leaf: _zeros(leaf) if _is_inexact(leaf) else None, primal)
    return zeros if any(leaf is not None for leaf in tree.leaves(zeros)) else None


@functools.lru_cache(maxsize=256)
def pushforward(function: Callable[..., Any], moving: tuple[int, ...]) -> Transformed:
    return Transformed(function, Pushforward(moving))


@functools.lru_cache(maxsize=256)
def pullback(function: Callable[..., Any]) -> Transformed:
    return Transformed(function, Pullback())


def matched(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
            ) -> dict[int, Any]:
    """The positions of the primals that move, and their tangents in the primals' dtypes."""
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise BadArgument("jvp expects a tuple of primals and a tuple of tangents", instead=AS_TUPLES)
    if len(primals) != len(tangents):
        raise BadArgument(f"jvp got {len(primals)} primals and {len(tangents)} tangents", instead=ONE_FOR_EACH)
    pairs: dict[int, Any] = {}
    for k, (primal, tangent) in enumerate(zip(primals, tangents)):
        if tangent is not None:
            with _about(function, k, len(primals)):
                pairs[k] = _tangent(primal, tangent, k)
    moving = {k: t for k, t in pairs.items() if any(leaf is not None for leaf in tree.leaves(t))}
    if not moving:
        raise BadArgument("all tangents of jvp are None", instead=GIVE_ONE)
    return moving


@contextmanager
def _about(function: Callable[..., Any], k: int, count: int) -> Iterator[None]:
    """Errors raised inside are about argument k of the function."""
    try:
        yield
    except BadArgument as error:
        error.argument = argument_names(innermost(function), count)[k]
        raise


def _tangent(primal: Any, tangent: Any, k: int) -> Any:
    """A tangent checked against its primal and cast; None where the primal carries no derivative."""
    leaves, structure = tree.flatten(primal)
    given = _flat_like(primal, structure, tangent, f"tangents[{k}]")
    fitted = [_fitted(p, t, f"{k}{path}") for p, t, path in zip(leaves, given, structure.paths())]
    if any(t is not None for t in fitted):               # the others of this argument stand still
        fitted = [_zeros(p) if t is None and _is_inexact(p) else t for p, t in zip(leaves, fitted)]
    return tree.unflatten(structure, fitted)


def _flat_like(model: Any, structure: Any, given: Any, name: str) -> list[Any]:
    """The leaves of a tangent in the structure of its primal, where None stands for no tangent."""
    try:
        return structure.leaves_of(_none_as_leaf(given, model), name)
    except ValueError as error:
        raise BadArgument(str(error),
                          instead=f"{name[:1].upper()}{name[1:]} must have the same structure as the value that it "
                                  "belongs to.") from None


class _Nothing:
    """Stands for None where None would be a tree without leaves."""


_NOTHING = _Nothing()


def _none_as_leaf(value: Any, model: Any) -> Any:
    """A tangent in which None for a leaf or a subtree of `model` is marked."""
    if value is None:
        return tree.map(lambda leaf: _NOTHING, model)
    if isinstance(value, dict):
        models = model if isinstance(model, dict) else {}
        return type(value)((key, _none_as_leaf(item, models.get(key, _NOTHING))) for key, item in value.items())
    if isinstance(value, (tuple, list)):
        parts = model if isinstance(model, (tuple, list)) and len(model) == len(value) else [_NOTHING] * len(value)
        items = map(_none_as_leaf, value, parts)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _fitted(primal: Any, tangent: Any, place: str) -> Any:
    if tangent is _NOTHING or tangent is None:
        return None
    if not _is_inexact(primal):
        raise BadArgument(f"tangents[{place}] is given, but primals[{place}] is not differentiable",
                          instead="Pass None for it, or make the primal a floating point number or array.")
    return _converted(primal, tangent, f"tangents[{place}]", "its primal")


def _cotangent(result: Any, cotangent: Any) -> Any:
    """A cotangent checked against the result of a function and cast; None where that carries no derivative."""
    leaves, structure = tree.flatten(result)
    given = _flat_like(result, structure, cotangent, "the cotangent")
    fitted = [_fitted_cotangent(*item) for item in zip(leaves, given, structure.paths())]
    return tree.unflatten(structure, fitted)


def _fitted_cotangent(result: Any, cotangent: Any, place: str) -> Any:
    if not _is_inexact(result):
        return None
    if cotangent is _NOTHING or cotangent is None:
        return _zeros(result)
    return _converted(result, cotangent, f"the cotangent{place}", "the result")


def _zeros(model: Any) -> Any:
    return _converted(model, np.zeros(np.shape(model)), "zeros", "its model")


def _is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, (float, complex, np.ndarray, np.generic)) and kind_of(np.asarray(leaf).dtype) in "fc"


def _converted(model: Any, given: Any, name: str, whose: str) -> Any:
    """A tangent or cotangent in the dtype of what it belongs to."""
    array = np.asarray(model)
    if np.shape(given) != array.shape:
        raise BadArgument(f"{name} has shape {np.shape(given)}, but {whose} has shape {array.shape}",
                          instead=f"Pass an array with the shape of {whose}.")
    if np.asarray(given).dtype.kind == "c" and array.dtype.kind != "c":
        raise BadArgument(f"{name} is complex, but {whose} is not", instead="Take its real part: np.real.")
    if isinstance(model, (float, complex)) and not isinstance(model, np.generic):
        return type(model)(given)
    return np.asarray(given, array.dtype)[()] if array.ndim == 0 else np.asarray(given, array.dtype)


@taking_arrays
def check_grads(function: Callable[..., Any], args: Sequence[Any], order: int = 2,
                modes: Sequence[str] = ("fwd", "rev"), atol: float | None = None, rtol: float | None = None,
                seed: int = 0) -> None:
    """Compares the derivatives of `function` with central differences along random directions.

    Args:
        function: returns floating-point numbers, arrays, or pytrees of them.
        args: a tuple of arguments.
        order: derivatives up to this order are compared.
        modes: ``"fwd"`` for forward mode, ``"rev"`` for reverse mode.
        atol, rtol: tolerances; by default chosen by dtype.
        seed: of the random directions.

    Raises `AssertionError` with both numbers if they differ. As `jax.test_util.check_grads`.

    >>> check_grads(lambda x: np.sum(np.sin(x)), (np.array([0.3, 1.2]),))
    """
    from .checking import check
    if not isinstance(args, (tuple, list)):
        from .read.kinds import described
        raise told_here(BadArgument(f"check_grads expects a tuple of arguments, got {described(args)}",
                                 instead="Write check_grads(f, (x,)), even for a single argument."))
    check(function, tuple(args), order, tuple(modes), atol, rtol, seed)
