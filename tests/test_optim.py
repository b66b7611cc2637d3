"""`optim`: optimisers and schedules against their formulas, against optax, compiled, differentiated and batched."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import check_grads, config, grad, jit, optim, tree, value_and_grad, vmap

RNG = np.random.default_rng(0)
PARAMS = {"w": RNG.normal(size=(3, 2)), "b": [RNG.normal(size=2)]}
GRADS = [tree.map(lambda leaf: RNG.normal(size=leaf.shape), PARAMS) for _ in range(4)]

# An optimiser, and the step of its paper: `step(t, p, g, m)` for t = 1, 2, … gives the parameter and what it remembers.


def adam_step(t: int, p: Any, g: Any, m: Any, decay: float = 0.0) -> Any:
    first, second = 0.9 * m[0] + 0.1 * g, 0.999 * m[1] + 0.001 * g**2
    ratio = first / (1 - 0.9**t) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
    return p - 0.01 * (ratio + decay * p), (first, second)


def nesterov_step(t: int, p: Any, g: Any, m: Any) -> Any:
    velocity = g + 0.9 * m[0]
    return p - 0.1 * (g + 0.9 * velocity), (velocity, 0)


def rmsprop_step(t: int, p: Any, g: Any, m: Any) -> Any:
    second = 0.9 * m[1] + 0.1 * g**2
    return p - 0.01 * g / np.sqrt(second + 1e-8), (0, second)


def adagrad_step(t: int, p: Any, g: Any, m: Any) -> Any:
    total = (0.1 if t == 1 else m[1]) + g**2
    return p - 0.1 * g / np.sqrt(total + 1e-7), (0, total)


def lion_step(t: int, p: Any, g: Any, m: Any) -> Any:
    return p - 0.01 * (np.sign(0.9 * m[0] + 0.1 * g) + 1e-3 * p), (0.99 * m[0] + 0.01 * g, 0)


def momentum_step(t: int, p: Any, g: Any, m: Any) -> Any:
    return p - 0.1 * (g + 0.9 * m[0]), (g + 0.9 * m[0], 0)


STEPS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "sgd": (optim.sgd(0.1), lambda t, p, g, m: (p - 0.1 * g, m)),
    "momentum": (optim.momentum(0.1), momentum_step),
    "nesterov": (optim.nesterov(0.1), nesterov_step),
    "adam": (optim.adam(0.01), adam_step),
    "adamw": (optim.adamw(0.01), lambda t, p, g, m: adam_step(t, p, g, m, 1e-4)),
    "rmsprop": (optim.rmsprop(0.01), rmsprop_step),
    "adagrad": (optim.adagrad(0.1), adagrad_step),
    "lion": (optim.lion(0.01), lion_step),
}


def stepped(optimizer: Any, params: Any, state: Any, grads: Any) -> Any:
    updates, state = optimizer.update(grads, state, params)
    return optim.apply_updates(params, updates), state


def followed(optimizer: Any, params: Any, all_grads: list[Any]) -> Any:
    state = optimizer.init(params)
    for grads in all_grads:
        params, state = stepped(optimizer, params, state, grads)
    return params, state


def assert_trees_close(found: Any, expected: Any, **limits: float) -> None:
    for one, other in zip(tree.leaves(found), tree.structure(found).leaves_of(expected), strict=True):
        np.testing.assert_allclose(one, other, **limits)


def float32(values: Any) -> Any:
    return tree.map(lambda leaf: leaf.astype(np.float32), values)


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_those_of_the_paper(name: str) -> None:
    optimizer, step = STEPS[name]
    found, _ = followed(optimizer, PARAMS, GRADS)
    for k, expected in enumerate(tree.leaves(PARAMS)):
        memory: Any = (0, 0)
        for t, grads in enumerate(GRADS, 1):
            expected, memory = step(t, expected, tree.leaves(grads)[k], memory)
        np.testing.assert_allclose(tree.leaves(found)[k], expected, rtol=1e-12)


LIKE_OPTAX: dict[str, Callable[[Any], Any]] = {
    "nadam": lambda m: m.adam(0.01, nesterov=True),
    "adamw with a mask": lambda m: m.adamw(0.01, weight_decay=0.1, mask={"w": True, "b": [False]}),
    "centered rmsprop": lambda m: m.rmsprop(0.01, centered=True, momentum=0.9, initial_scale=1.0, eps_in_sqrt=False),
    "chain": lambda m: m.chain(m.clip(0.8), m.clip_by_global_norm(1.0), m.scale_by_adam(), m.add_decayed_weights(0.1),
                               m.scale_by_schedule(m.cosine_onecycle_schedule(5, 0.1)), m.scale(-1.0)),
}


@pytest.mark.parametrize("name", LIKE_OPTAX)
def test_steps_are_those_of_optax(name: str) -> None:
    made = LIKE_OPTAX[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optax = pytest.importorskip("optax")
        theirs, params = made(optax), float32(PARAMS)
        state = theirs.init(params)
        for grads in GRADS:
            updates, state = theirs.update(float32(grads), state, params)
            params = optax.apply_updates(params, updates)
    found, _ = followed(made(optim), float32(PARAMS), list(map(float32, GRADS)))
    assert_trees_close(found, params, atol=3e-6)


SCHEDULES: dict[str, tuple[tuple[Any, ...], Callable[[int], float]]] = {
    "constant_schedule": ((0.5,), lambda t: 0.5),
    "linear_schedule": ((1.0, 0.2, 4, 2), lambda t: 1 - 0.8 * min(max(t - 2, 0), 4) / 4),
    "polynomial_schedule": ((1.0, 0.2, 2.0, 4), lambda t: 0.2 + 0.8 * (1 - min(t, 4) / 4) ** 2),
    "exponential_decay": ((1.0, 3, 0.5, 1, True, 0.3), lambda t: max(0.5 ** (max(t - 1, 0) // 3), 0.3)),
    "cosine_decay_schedule": ((2.0, 6, 0.1, 2.0), lambda t: 2 * (0.9 * wave(min(t, 6) / 6) ** 2 + 0.1)),
    "warmup_cosine_decay_schedule": ((0.1, 1.0, 3, 8, 0.05), lambda t: 0.1 + 0.3 * t if t < 3 else
                                     0.05 + 0.95 * wave(min(t - 3, 5) / 5)),
    "warmup_exponential_decay_schedule": ((0.0, 1.0, 2, 4, 0.5), lambda t: t / 2 if t < 2 else 0.5 ** ((t - 2) / 4)),
    "piecewise_constant_schedule": ((1.0, {6: 0.1, 3: 0.5}), lambda t: 1.0 if t < 3 else 0.5 if t < 6 else 0.05),
    "piecewise_interpolate_schedule": (("linear", 1.0, {3: 0.5, 6: 0.0}), lambda t: max(1 - t / 6, 0)),
    "linear_onecycle_schedule": ((10, 1.0), lambda t: float(np.interp(t, [0, 3, 8, 10], [0.04, 1.0, 0.04, 0.04e-4]))),
    "cosine_onecycle_schedule": ((10, 1.0), lambda t: 0.04 + 0.96 * (1 - wave(t / 3)) if t < 3 else
                                 0.04e-4 + (1 - 0.04e-4) * wave(min(t - 3, 7) / 7)),
}


def wave(part: float) -> float:
    return 0.5 * (1 + math.cos(math.pi * part))


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str) -> None:
    """At numbers of steps and at arrays of them."""
    arguments, formula = SCHEDULES[name]
    schedule, steps = getattr(optim, name)(*arguments), np.arange(12)
    expected = [formula(int(step)) for step in steps]
    np.testing.assert_allclose(np.broadcast_to(schedule(steps), 12), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose([schedule(int(step)) for step in steps], expected, rtol=1e-12, atol=1e-15)


def test_optimizers_compiled_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """One compiled step for two optimisers: the numbers of the plain one, f32 stays f32, counts stay ints."""
    rate = optim.warmup_cosine_decay_schedule(0.01, 0.1, 2, 6)
    optimizers = (optim.chain(optim.clip_by_global_norm(0.5), optim.adamw(rate)), optim.nesterov(0.1))
    all_grads = list(map(float32, GRADS))
    monkeypatch.setattr(config, "threads", 1)  # which takes less time to compile

    @jit
    def step(params: Any, states: Any, grads: Any) -> Any:
        found = [stepped(optimizer, own, state, grads) for optimizer, own, state in zip(optimizers, params, states)]
        return [own for own, _ in found], [state for _, state in found]

    params = [float32(PARAMS)] * 2
    states = [optimizer.init(own) for optimizer, own in zip(optimizers, params)]
    for grads in all_grads:
        params, states = step(params, states, grads)
    expected = [followed(optimizer, float32(PARAMS), all_grads) for optimizer in optimizers]
    assert_trees_close((params, states), ([p for p, _ in expected], [s for _, s in expected]), rtol=1e-5, atol=1e-6)
    kinds = {type(leaf) if isinstance(leaf, int) else leaf.dtype for leaf in tree.leaves((params, states, expected))}
    assert kinds == {int, np.dtype(np.float32)}


def test_derivative_through_steps() -> None:
    """A rate, and initial parameters, by how good they are after some steps of training."""

    def after(params: Any, rate: Any, x: Any, steps: int) -> Any:
        optimizer = optim.chain(optim.clip_by_norm(5.0), optim.adam(rate, eps_root=1e-6))
        state = optimizer.init(params)
        for _ in range(steps):
            grads = grad(lambda p: np.sum((np.tanh(x @ p["w"]) - p["b"]) ** 2))(params)
            params, state = stepped(optimizer, params, state, grads)
        return np.sum((np.tanh(x @ params["w"]) - params["b"]) ** 2)

    args = {"w": RNG.normal(size=3), "b": RNG.normal(size=2)}, 0.1, RNG.normal(size=(2, 3))
    check_grads(lambda *each: after(*each, 2), args, order=1)
    value, (of_params, of_rate) = jit(value_and_grad(after, argnums=(0, 1)))(*args, 1)
    expected, gradients = value_and_grad(after, argnums=(0, 1))(*args, 1)
    assert_trees_close((value, of_params, of_rate), (expected, *gradients), rtol=1e-9)


def test_members_of_an_ensemble() -> None:
    """Parameters, states with their counts, and rates, all with one more axis; float32 stays float32."""

    def member(params: Any, rate: Any, grads: Any) -> Any:
        optimizer = optim.chain(optim.clip_by_global_norm(1.0), optim.adam(optim.exponential_decay(rate, 2, 0.5)))
        params, state = stepped(optimizer, params, optimizer.init(params), grads)
        return stepped(optimizer, params, state, grads)

    params, grads = (float32(tree.map(lambda leaf: np.stack([leaf, 2 * leaf]), each)) for each in (PARAMS, GRADS[0]))
    rates = np.array([0.1, 0.01])
    found, state = vmap(member)(params, rates, grads)
    for k, rate in enumerate(rates):
        one, _ = member(*(tree.map(lambda leaf, k=k: leaf[k], each) for each in (params,)), rate,
                        tree.map(lambda leaf, k=k: leaf[k], grads))
        assert_trees_close(tree.map(lambda leaf, k=k: leaf[k], found), one, rtol=1e-5, atol=1e-7)
    step = vmap(lambda own, before, given: stepped(optim.adam(0.1), own, before, given))
    again, later = step(params, tree.map(lambda leaf: leaf, state[1][0:1] + (optim.EmptyState(),)), grads)
    assert {leaf.dtype for leaf in tree.leaves((found, again))} == {np.dtype(np.float32)}
    assert later[0].count.tolist() == [3, 3]


def test_clipping() -> None:
    grads = {"a": np.array([3.0, 0.0]), "b": np.array([[4.0]])}

    def clipped(transformation: Any) -> Any:
        return transformation.update(grads, transformation.init(grads))[0]

    def assert_clipped(transformation: Any, a: float, b: float) -> None:
        assert_trees_close(clipped(transformation), {"a": np.array([a, 0.0]), "b": np.array([[b]])})

    assert_clipped(optim.clip(1.0), 1.0, 1.0)
    assert_clipped(optim.clip_by_norm(3.5), 3.0, 3.5)
    assert_clipped(optim.clip_by_global_norm(2.5), 1.5, 2.0)
    assert_clipped(optim.clip_by_global_norm(5.5), 3.0, 4.0)


@pytest.mark.parametrize("is_read", [False, True])
def test_wrong_structures_are_named(is_read: bool) -> None:
    optimizer = optim.adamw(0.1)
    state = optimizer.init(PARAMS)

    def plain(grads: Any, params: Any) -> Any:
        return optimizer.update(grads, state, params)[0]

    update = vmap(plain, in_axes=None, axis_size=2) if is_read else plain

    # While a function is read, sizes that differ are found where the arrays meet.
    by_path = r"updates\['b'\]\[0\] has shape \(3,\), but .* has shape \(2,\)"
    with pytest.raises(ValueError, match=r"could not be broadcast .*\(2,\) \(3,\)" if is_read else by_path):
        update({"w": GRADS[0]["w"], "b": [np.ones(3)]}, PARAMS)
    with pytest.raises(ValueError, match=r"updates is .*'w': \*.* expected"):
        update({"w": GRADS[0]["w"]}, PARAMS)
    with pytest.raises(ValueError, match="weight decay needs the parameters: call update"):
        update(GRADS[0], None)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="a chain of 1 transformations, not of 2"):
        optim.sgd(0.1).update(PARAMS, (optim.EmptyState(),))
    with pytest.raises(ValueError, match="decay_steps is 0"):
        optim.cosine_decay_schedule(1.0, 0)
    with pytest.raises(ValueError, match="2 schedules need 1 boundaries, got 0"):
        optim.join_schedules([optim.constant_schedule(1.0)] * 2, [])
    with pytest.raises(ValueError, match="expected 'linear' or 'cosine'"):
        optim.piecewise_interpolate_schedule("cubic", 1.0, {})
