"""Gradients, pullbacks and pushforwards of functions with their interfaces: the work of the modes in `modes`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import tree
from ..core.builder import Builder
from ..core.errors import BadArgument, NotDifferentiable, Origin
from ..core.grammar import Const, Function, Var, type_of
from ..core.halves import is_inexact
from ..core.naming import TANGENT, cotangent_name, derived, numbered
from ..core.types import ArrayType
from ..read.interface import Interface, Parameter, Result
from ..read.kinds import described
from .arguments import all_differentiable, chosen_parameters, extended, is_differentiable, passed
from .forward import jvp
from .modes import Gradient, Pullback, Pushforward
from .naming import pattern_for
from .reverse.reverse import reverse


def gradient(mode: Gradient, function: Function, interface: Interface, builder: Builder
             ) -> tuple[Function, Interface]:
    """Cotangents of parameters for a result that is a number."""
    chosen = chosen_parameters(interface, mode.wrt, mode.suffix)
    leaves = [leaf for p in chosen for leaf in differentiable_leaves(p, mode.holomorphic)]
    main, aux = _results(mode, interface)
    k = _scalar(mode, main, function, interface)
    seeds = [Const(1.0) if i == k else None for i in range(len(function.results))]
    asked = [leaf.k for leaf in tree.leaves(interface.result if mode.value else aux) if isinstance(leaf, Result)]
    new = reverse(function, [p in leaves for p in function.params], seeds, builder, mode.memory, asked,
                  of_arguments=True)
    result = _tree(mode, interface, function, chosen, leaves, aux)
    return without_unused(new, renamed(interface, mode.suffix, result))


def _results(mode: Gradient, interface: Interface) -> tuple[Any, Any]:
    if not mode.has_aux:
        return interface.result, None
    if not isinstance(interface.result, tuple) or len(interface.result) != 2:
        raise BadArgument(f"with has_aux=True, {mode.suffix} needs a function that returns a pair (value, aux)",
                          interface.returned, instead=f"Return a pair from {interface.name}, or omit has_aux.")
    return interface.result


def _scalar(mode: Gradient, main: Any, function: Function, interface: Interface) -> int | None:
    """Which of the function's results is differentiated; None when it is a number known now."""
    if isinstance(main, (int, float)) and not isinstance(main, bool):
        return None
    if not isinstance(main, Result):
        raise BadArgument(f"{mode.suffix} needs a function that returns one number, but {interface.name} returns "
                          f"{_shown(main)}", interface.returned or function.origin,
                          instead="Return the number alone, or (number, aux) with has_aux=True.")
    check_scalar(type_of(function.results[main.k]), mode, interface.name, interface.returned or function.origin)
    return main.k


def _tree(mode: Gradient, interface: Interface, function: Function, chosen: list[Parameter], leaves: list[Var],
          aux: Any) -> Any:
    order = [p for p in function.params if p in leaves]
    place = {var: Result(len(function.results) + i) for i, var in enumerate(order)}
    trees = tuple(tree.map(lambda leaf: place.get(leaf), p.tree) for p in chosen)
    gradients = trees if isinstance(mode.wrt, tuple) else trees[0]
    if mode.value:
        return interface.result, gradients
    return (gradients, aux) if mode.has_aux else gradients


def check_scalar(type: Any, mode: Gradient, name: str, returned: Origin | None) -> None:
    """Raises unless a result of this type can be differentiated by a gradient."""
    if not isinstance(type, ArrayType) or type.sizes:
        raise BadArgument(f"{mode.suffix} needs a function that returns one number, but {name} returns an array "
                          f"of type {type}", returned,
                          instead="Reduce it (np.sum, np.mean), or use vjp with a cotangent.")
    if type.dtype.kind == "c" and not mode.holomorphic:
        raise BadArgument(f"{mode.suffix} needs a function that returns a real number, but "
                          f"{name} returns a complex one",
                          returned, instead="Return np.real(...) or np.abs(...), or pass holomorphic=True.")
    if type.dtype.kind not in "fc":
        raise NotDifferentiable(f"{name} returns {type}, which is not differentiable", returned,
                                instead="Return a floating point number.")


def _shown(result: Any) -> str:
    """What a function returns that is no number, in words."""
    return repr(result) if result is None or isinstance(result, (str, bool)) else f"a {type(result).__name__}"


def pullback(mode: Pullback, function: Function, interface: Interface, builder: Builder
             ) -> tuple[Function, Interface]:
    """Cotangents of parameters for a cotangent of the result."""
    wrt = all_differentiable(interface) if mode.wrt is None else mode.wrt
    chosen = chosen_parameters(interface, wrt, mode.suffix)
    leaves = [leaf for p in chosen for leaf in tree.leaves(p.tree) if is_differentiable(leaf)]
    main, aux = interface.result if mode.has_aux else (interface.result, None)
    pulled = {leaf.k for leaf in tree.leaves(main) if isinstance(leaf, Result)}
    name = cotangent_name([p.name for p in interface.parameters])
    seeds = [_seed(atom, numbered(name, k + 1)) if k in pulled else None for k, atom in enumerate(function.results)]
    count = len(function.results)
    asked = [leaf.k for leaf in tree.leaves(aux) if isinstance(leaf, Result)]
    new = reverse(function, [p in leaves for p in function.params], seeds, builder, asked=asked,
                  of_arguments=True)
    new.params = [*new.params, *(s for s in seeds if s is not None)]
    cotangent = tree.map(lambda r: seeds[r.k] if isinstance(r, Result) else None, main)
    order = [p for p in function.params if p in leaves]
    place = {var: Result(count + i) for i, var in enumerate(order)}
    listed = passed(interface) if mode.wrt is None else chosen
    trees = tuple(tree.map(lambda leaf: place.get(leaf) if isinstance(leaf, Var) else None, p.tree)
                  for p in listed)
    found = trees[0] if isinstance(mode.wrt, (int, str)) else trees
    result = renamed(interface, mode.suffix, (found, aux) if mode.has_aux else found)
    return without_unused(new, extended(result, [(name, cotangent)]))


def _seed(atom: Any, name: str) -> Var | None:
    type = type_of(atom)
    return Var(type, name, is_parameter=True) if type.is_inexact else None


def pushforward(mode: Pushforward, function: Function, interface: Interface, builder: Builder
                ) -> tuple[Function, Interface]:
    """The result and its tangent, for tangents of parameters."""
    wrt = all_differentiable(interface) if mode.wrt is None else mode.wrt
    chosen = chosen_parameters(interface, wrt, mode.suffix)
    leaves = [leaf for p in chosen for leaf in tree.leaves(p.tree) if is_differentiable(leaf)]
    order = [p for p in function.params if p in leaves]
    count, pattern = len(function.results), pattern_for(function, TANGENT)
    new = jvp(function, [p in leaves for p in function.params], builder, of_arguments=True)
    twin = dict(zip(order, new.params[len(function.params):]))
    inexact = [type_of(atom).is_inexact for atom in function.results]
    moving = {k: Result(count + k) for k in range(count) if inexact[k]}
    tangent = tree.map(lambda r: moving.get(r.k) if isinstance(r, Result) else _at_rest(r), interface.result)
    result = renamed(interface, mode.suffix, (interface.result, tangent))
    tangents = [(derived(p.name, pattern), tree.map(lambda leaf: twin.get(leaf) if isinstance(leaf, Var) else None,
                                        p.tree)) for p in chosen]
    return without_unused(new, extended(result, tangents))


def _at_rest(leaf: Any) -> Any:
    """The tangent of a result that is known beforehand: zero, or None where there is none."""
    return type(leaf)(0) if isinstance(leaf, (float, complex)) or is_inexact(leaf) else None


def differentiable_leaves(parameter: Parameter, holomorphic: bool) -> list[Var]:
    """The leaves of a parameter; raises where one of them carries no derivative."""
    leaves, structure = tree.flatten(parameter.tree)
    for leaf, path in zip(leaves, structure.paths()):
        if not is_differentiable(leaf):
            shown = leaf.type if isinstance(leaf, Var) else _shown_argument(leaf)
            raise NotDifferentiable(f"{parameter.name}{path} is {shown}, which is not differentiable",
                                    instead=_differentiable_instead(leaf, parameter), argument=parameter.name)
        if holomorphic and leaf.type.dtype.kind != "c":
            raise BadArgument(f"holomorphic=True needs complex arguments, but {parameter.name}{path} is {leaf.type}",
                              instead="Pass complex numbers, or omit holomorphic.", argument=parameter.name)
    return leaves


def _shown_argument(leaf: Any) -> str:
    known = isinstance(leaf, (str, int, float, complex))
    return f"the {type(leaf).__name__} {leaf!r}" if known else "None" if leaf is None else described(leaf)


def _differentiable_instead(leaf: Any, parameter: Parameter) -> str:
    if parameter.tree is parameter.default:
        return "Pass a floating point number for it in the call: an argument left at its default is a constant."
    if isinstance(leaf, (Var, int)):
        return "Pass floating point numbers (3.0, x.astype(float)), or leave it out of argnums."
    if any(isinstance(other, Var) and is_differentiable(other) for other in tree.leaves(parameter.tree)):
        return ("Make the numbers and arrays alone the argument, and let the function add the rest to them;"
                ' a field of a dataclass may be static: field(metadata={"static": True}).')
    return "Pass floating point numbers, arrays or containers of them; transformer.tree.register makes a class one."


def without_unused(function: Function, interface: Interface) -> tuple[Function, Interface]:
    """Drops the results that are not returned, such as the value that only `grad` went through."""
    found = {leaf.k for leaf in tree.leaves(interface.result) if isinstance(leaf, Result)}
    places = {k: Result(place) for place, k in enumerate(sorted(found))}
    function.results = [function.results[k] for k in places]
    interface.result = tree.map(lambda leaf: places[leaf.k] if isinstance(leaf, Result) else leaf,
                                interface.result)
    return function, interface


def renamed(interface: Interface, suffix: str, result: Any) -> Interface:
    return replace(interface, name=f"{interface.name}_{suffix}", result=result, returned=None)
