"""Parameters, locals and results that are tuples, lists, dicts, NamedTuples or dataclasses."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from .program import Program, normal


@dataclass
class Oscillator:
    mass: float
    stiffness: float
    damping: float = 0.1

    def energy(self, x, v):
        return 0.5 * self.mass * v**2 + 0.5 * self.stiffness * x**2


@dataclass(frozen=True)
class Layer:
    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, x):
        return np.tanh(self.weight @ x + self.bias)


@dataclass
class Network:
    layers: list[Layer]
    scale: float = 1.0
    extra: dict = field(default_factory=dict)


class Gaussian(NamedTuple):
    mean: np.ndarray
    log_scale: np.ndarray

    def log_density(self, x):
        z = (x - self.mean) / np.exp(self.log_scale)
        return -0.5 * z**2 - self.log_scale


class State(NamedTuple):
    position: float
    velocity: float = 0.5


class Moments(NamedTuple):
    """Fields that have the names of methods of tuples."""

    count: int
    index: float

    def updated(self, x):
        return Moments(self.count + 1, 0.9 * self.index + 0.1 * x)


def dict_of_parameters(params, x):
    return np.sum(np.tanh(x @ params["w"] + params["b"]) ** 2) * params["scale"]


def nested_dict(params, x):
    encoder, decoder = params["encoder"], params["decoder"]
    hidden = np.tanh(x @ encoder["w"])
    return np.sum((hidden @ decoder["w"] + decoder["b"]) ** 2)


def unused_leaf(params):
    """A leaf without influence gets a gradient of zeros, not None."""
    return np.sum(params["used"] ** 2) + len(params["unused"])


def list_of_parameters(weights, x):
    for w in weights:
        x = np.sin(w * x)
    return np.sum(x * weights[0])


def tuple_of_parameters(pair, scale):
    a, (b, c) = pair
    return scale * np.sum(a * b) + c**2 * a[0] + pair[1][1]


def dataclass_parameter(system, x):
    v = 0.3
    for _ in range(3):
        force = -system.stiffness * x - system.damping * v
        v = v + 0.1 * force / system.mass
        x = x + 0.1 * v
    return system.energy(x, v)


def dataclass_of_layers(network, x):
    for layer in network.layers:
        x = layer(x)
    return network.scale * np.sum(x**2) + np.sum(network.extra["shift"] * x)


def dataclass_made_inside(a, b):
    one = Oscillator(mass=a, stiffness=b)
    other = replace(one, mass=a * b, damping=a)
    return one.energy(b, 0.5) * other.energy(0.5, a) + other.damping * one.damping


def named_tuple_parameter(prior, x):
    return np.sum(prior.log_density(x)) + prior.mean[0] * prior[1][0]


def named_tuple_as_carry(position, stiffness):
    state = State(position)
    for _ in range(4):
        velocity = state.velocity - 0.1 * stiffness * state.position
        state = State(state.position + 0.1 * velocity, velocity)
    state = state._replace(velocity=state.velocity**2)
    return state.position**2 + state.velocity


def dict_as_carry(x, rate):
    state = {"x": x, "count": 0, "sum": 0.0}
    for _ in range(3):
        state["x"] = state["x"] * rate + np.sin(state["x"])
        state["sum"] += state["x"] ** 2
        state["count"] += 1
    return state["sum"] / state["count"]


def tuple_as_carry(x, y):
    pair = (x, y)
    for _ in range(3):
        pair = (pair[1] * 0.5, pair[0] + pair[1] ** 2)
    return pair[0] * pair[1]


def adam_steps(params, gradient_scale):
    """A small optimiser on a dict, moments and all."""
    mean = {name: 0.0 * value for name, value in params.items()}
    square = {name: 0.0 * value for name, value in params.items()}
    for step in range(1, 3):
        for name in params:
            g = gradient_scale * np.cos(params[name])
            mean[name] = 0.9 * mean[name] + 0.1 * g
            square[name] = 0.99 * square[name] + 0.01 * g**2
        params = {
            name: value
            - 0.1
            * (mean[name] / (1 - 0.9**step))
            / (np.sqrt(square[name] / (1 - 0.99**step)) + 0.1)
            for name, value in params.items()
        }
    return np.sum(params["a"] ** 2) + params["b"]


def fields_like_methods(x, y):
    moments = Moments(0, x)
    for _ in range(3):
        moments = moments.updated(y * moments.count)
    return moments.index * moments.count


def all_axes_but_one(x, axis):
    """A list from which a known item is left out, where it has to be known."""
    others = tuple([k for k in range(np.ndim(x)) if k != axis % np.ndim(x)])
    return np.sum(np.mean(np.sin(x), axis=others) ** 2)


def star_unpacking(values):
    first, *middle, last = values
    *start, (a, b) = (first, last), (middle[0], middle[1])
    (c, d), *none = start
    return a * b**2 + c * d + len(none) + sum(middle) * first


def chained_assignment(x, y):
    a = b = x * y
    b += y
    c, d = e = (a, b)
    return a * b + c * e[1] + d**2


def swaps_and_rotations(a, b, c):
    a, b = b, a * c
    a, b, c = c, a, b
    [a, (b, c)] = [a + b, (c, b)]
    return a**2 * b + c


def dict_building(x, y):
    table = {"x": x}
    table["y"] = y
    table["x"] = table["x"] * table["y"]
    table.update(z=x + y)
    merged = {**table, "w": table["z"] ** 2}
    first = merged.pop("x")
    return first * merged["w"] + merged.get("q", y) + len(merged)


def list_building(x, y):
    values = [x, y]
    values.append(x * y)
    values += [y**2]
    values.insert(0, values[-1])
    values[1] = values[1] * values[0]
    values.extend((x, 1.0))
    last = values.pop()
    return sum(values[1:4]) * values[-1] + last * values[::-1][2] + (values * 2)[7]


def ordered_dict(x):
    table = OrderedDict(a=x[0], b=x[1] ** 2)
    return sum(table.values()) * table["a"] + sum(k * v for k, v in enumerate(table.values()))


def options_of_all_kinds(x, mode, bias, flags):
    """Strings, None, bools and tuples steer the reading and have no derivative."""
    if mode == "mean":
        y = np.mean(x**2)
    elif mode in ("sum", "total"):
        y = np.sum(x**2)
    else:
        raise ValueError(f"unknown mode {mode!r}")
    if bias is not None:
        y = y + np.sum(bias * x)
    for i, flag in enumerate(flags):
        if flag:
            y = y * x[i]
    return y


def static_questions(x, data):
    """isinstance, len and hasattr are answered while reading."""
    if isinstance(data, dict):
        values = list(data.values())
    elif isinstance(data, list | tuple):
        values = list(data)
    else:
        values = [data]
    total = np.sum(x) if hasattr(x, "shape") and x.ndim == 1 else x
    for v in values:
        total = total * v if not isinstance(v, str) else total + len(v)
    return total + (x.shape == (3,)) * np.prod(x) + callable(total)


def pytree_result(x, y):
    product = x * y
    return {"value": np.sum(product), "rest": (np.sin(product), [x[0], y**2])}


def array_result(x, m):
    return np.tanh(m @ x) * x[0]


def dataclass_result(a, b):
    return Oscillator(mass=a * b, stiffness=a / b, damping=a)


def named_tuple_result(x):
    return Gaussian(np.cumsum(x), np.log1p(x**2))


def result_with_constants(x):
    """An integer and a name ride along in the result and have no tangent."""
    return x**2, len(x), "label", np.argmax(x)


def _dict(rng):
    params = {"w": rng.standard_normal((3, 2)), "b": rng.standard_normal(2), "scale": 0.7}
    return params, rng.standard_normal((4, 3))


def _nested(rng, size=4):
    params = {
        "encoder": {"w": rng.standard_normal((3, size))},
        "decoder": {"b": rng.standard_normal(2), "w": rng.standard_normal((size, 2))},
    }
    return params, rng.standard_normal((2, 3))


def _network(rng):
    layers = [
        Layer(rng.standard_normal((3, 2)), rng.standard_normal(3)),
        Layer(rng.standard_normal((2, 3)), rng.standard_normal(2)),
    ]
    return Network(layers, 0.8, {"shift": rng.standard_normal(2)}), rng.standard_normal(2)


def _options(rng):
    return rng.standard_normal(3), "total", rng.standard_normal(3), (True, False, True)


def least_recently_used(x):
    """The dictionary is filled item by item, and keys change places."""
    kept, total = OrderedDict(), 0.0
    for k in (0, 1, 0, 2, 1, 0):
        if k in kept:
            kept.move_to_end(k)
        else:
            kept[k] = x[k] ** 2 * (k + 1)
        if len(kept) > 2:
            kept.popitem(last=False)
        total = total * 0.5 + kept[k]
    for place, k in enumerate(kept):
        total += place * kept[k]
    del kept[0]
    return total + sum(kept.values())


PROGRAMS = [
    Program(dict_of_parameters, _dict, (0, 1)),
    Program(nested_dict, _nested),
    Program(unused_leaf, lambda rng: ({"used": rng.random(3), "unused": rng.random(2)},)),
    Program(
        list_of_parameters, lambda rng: ([rng.random(3), rng.random(3)], rng.random(3)), (0, 1)
    ),
    Program(tuple_of_parameters, lambda rng: ((rng.random(2), (rng.random(2), 0.4)), 0.9), (0, 1)),
    Program(dataclass_parameter, lambda rng: (Oscillator(1.2, rng.random()), 0.7), (0, 1)),
    Program(dataclass_of_layers, _network, (0, 1)),
    Program(dataclass_made_inside, normal(None, None), (0, 1)),
    Program(
        named_tuple_parameter,
        lambda rng, size=4: (Gaussian(*rng.standard_normal((2, size))), rng.standard_normal(size)),
        (0, 1),
    ),
    Program(named_tuple_as_carry, normal(None, None), (0, 1)),
    Program(dict_as_carry, normal(None, None), (0, 1)),
    Program(tuple_as_carry, normal(None, None), (0, 1)),
    Program(adam_steps, lambda rng: ({"a": rng.random(3), "b": rng.random()}, 0.8), (0, 1)),
    Program(fields_like_methods, normal(None, None), (0, 1)),
    Program(all_axes_but_one, normal((2, 3, 2), then=(-2,))),
    Program(star_unpacking, lambda rng: (tuple(rng.random(5).tolist()),)),
    Program(star_unpacking, normal((4,)), name="star_unpacking_of_array"),
    Program(chained_assignment, normal(None, None), (0, 1)),
    Program(swaps_and_rotations, normal(None, None, None), (0, 1, 2)),
    Program(dict_building, normal(None, None), (0, 1)),
    Program(list_building, normal(None, None), (0, 1)),
    Program(ordered_dict, normal((2,))),
    Program(options_of_all_kinds, _options, (0, 2)),
    Program(
        options_of_all_kinds,
        lambda rng: (rng.standard_normal(3), "mean", None, ()),
        name="options_left_out",
    ),
    Program(static_questions, lambda rng: (rng.random(3), {"a": 2.0, "b": "bc"})),
    Program(static_questions, lambda rng: (rng.random(3), (0.5, 3)), name="static_questions_tuple"),
    Program(pytree_result, normal((3,), (3,)), (0, 1), tags=("results",)),
    Program(array_result, normal((3,), (3, 3)), (0, 1), tags=("results",)),
    Program(dataclass_result, normal(None, None), (0, 1), tags=("results",)),
    Program(named_tuple_result, normal(("n",)), tags=("results",)),
    Program(result_with_constants, normal((3,)), tags=("results",)),
    Program(least_recently_used, normal((3,))),
]
