"""Devices: what `pmap` costs beyond its phases, collectives, one device and two, and beside jax.pmap."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import Samples, interleave, show, table
from transformer import config, device_put, jit, pmap, pmean, psum, value_and_grad

DEVICES = 2
RNG = np.random.default_rng(0)
MILLION = RNG.normal(size=(DEVICES, 1_000_000)).astype(np.float32)
SMALL = RNG.normal(size=(DEVICES, 8)), RNG.normal(size=8)
WORK = RNG.normal(size=(DEVICES, 400_000))
BATCH = RNG.normal(size=(DEVICES, 32, 64)), RNG.integers(0, 10, (DEVICES, 32))
PARAMS = {"w1": RNG.normal(0, 0.1, (64, 64)), "b1": np.zeros(64),
          "w2": RNG.normal(0, 0.1, (64, 10)), "b2": np.zeros(10)}
RATE = 0.05
OFTEN = 100


def before(x, w):
    return np.mean(x * w) * x


def after(w, mean):
    return w - 0.1 * mean


def small_step(x, w):
    return after(w, pmean(before(x, w), "i"))


def busy(x):
    y = x
    for _ in range(20):
        y = np.sin(y) + 0.5 * np.cos(x * y)
    return np.sum(y)


def loss(params, images, labels):
    hidden = np.tanh(images @ params["w1"] + params["b1"])
    scores = hidden @ params["w2"] + params["b2"]
    scores = scores - np.max(scores, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(scores), axis=1)) - scores[np.arange(labels.size), labels])


def step(params, images, labels):
    value, gradient = value_and_grad(loss)(params, images, labels)
    gradient = pmean(gradient, "i")
    return {name: params[name] - RATE * gradient[name] for name in params}, pmean(value, "i")


def run(rounds: int) -> None:
    config.cpu_devices = DEVICES
    rows = [overhead(rounds), sums(rounds), speedup(rounds), training(rounds), cheap(rounds)]
    table(f"Devices: {DEVICES} on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, minima",
          ["", "pmap", "compared with", "figure"], rows)


def ready(result: Any) -> Any:
    for leaf in result if isinstance(result, tuple) else (result,):
        getattr(leaf, "block_until_ready", lambda: None)()
    return result


def overhead(rounds: int) -> list[str]:
    """A step with two phases and a collective, beside the phases of one device and the mean."""
    mapped = pmap(small_step, "i", in_axes=(0, None), out_axes=None)
    first, second = jit(before), jit(after)
    rows, w = SMALL

    def alone() -> Any:
        part = first(rows[0], w)
        return second(w, (part + part) / 2)

    samples = interleave({"pmap": lambda: mapped(rows, w), "phases": alone}, rounds)
    least = minima(samples)
    return ["a step of two small phases", show(least["pmap"]), f"the phases: {show(least['phases'])}",
            f"{show(least['pmap'] - least['phases'])} more (60 µs)"]


def sums(rounds: int) -> list[str]:
    mapped = pmap(lambda x: psum(x, "i"), "i", out_axes=None)
    np.testing.assert_allclose(mapped(MILLION), MILLION.sum(axis=0), rtol=1e-6)
    least = minima(interleave({"pmap": lambda: mapped(MILLION), "NumPy": lambda: MILLION[0] + MILLION[1]}, rounds))
    return ["psum of 1,000,000 f32", show(least["pmap"]), f"NumPy's sum: {show(least['NumPy'])}", "0.5 ms"]


def speedup(rounds: int) -> list[str]:
    """Work that a core has to do, on one device after the other and on both."""
    threads, config.threads = config.threads, 1
    one, both = jit(busy), pmap(busy)
    np.testing.assert_allclose(np.asarray(both(WORK)), [one(row) for row in WORK])
    samples = interleave({"pmap": lambda: ready(both(WORK)), "one": lambda: [one(row) for row in WORK]}, rounds)
    config.threads = threads
    least = minima(samples)
    return ["sines, on both devices", show(least["pmap"]), f"one core: {show(least['one'])}",
            f"{least['one'] / least['pmap']:.2f} x (1.7)"]


def training(rounds: int) -> list[str]:
    images, labels = BATCH
    mapped = pmap(step, "i", in_axes=(None, 0, 0), out_axes=None)
    calls: dict[str, Callable[[], Any]] = {"pmap": lambda: ready(mapped(PARAMS, images, labels))}
    theirs = of_jax()
    if theirs is not None:
        np.testing.assert_allclose(calls["pmap"]()[0]["w1"], np.asarray(theirs()[0]["w1"])[0], rtol=1e-6, atol=1e-9)
        calls["JAX"] = theirs
    least = minima(interleave(calls, rounds))
    told = f"jax.pmap: {show(least['JAX'])}" if theirs else "JAX: absent"
    figure = f"{least['JAX'] / least['pmap']:.2f} x JAX (1.0)" if theirs else ""
    return ["a step on digits, batches of 32", show(least["pmap"]), told, figure]


def cheap(rounds: int) -> list[str]:
    """A small compiled function on an array of a device, and on one of NumPy's."""
    run, values = jit(lambda x: x * 2 + 1), np.ones(100)
    array = device_put(values)

    def often(given: Any) -> Callable[[], Any]:
        return lambda: [run(given) for _ in range(OFTEN)]

    least = minima(interleave({"Array": often(array), "NumPy": often(values)}, rounds))
    return ["a cheap call that gives an Array", show(least["Array"] / OFTEN),
            f"NumPy's: {show(least['NumPy'] / OFTEN)}", "3 µs"]


def of_jax() -> Callable[[], Any] | None:
    """jax.pmap over as many devices of the host; parameters have a copy on each, as its users keep them."""
    os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={DEVICES}")
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None

    def jax_loss(params, images, labels):
        hidden = jnp.tanh(images @ params["w1"] + params["b1"])
        scores = jax.nn.log_softmax(hidden @ params["w2"] + params["b2"])
        return -jnp.mean(scores[jnp.arange(labels.size), labels])

    def jax_step(params, images, labels):
        value, gradient = jax.value_and_grad(jax_loss)(params, images, labels)
        gradient = jax.lax.pmean(gradient, "i")
        return {name: params[name] - RATE * gradient[name] for name in params}, jax.lax.pmean(value, "i")

    mapped = jax.pmap(jax_step, "i")
    copies = jax.device_put_replicated(PARAMS, jax.local_devices()) if hasattr(jax, "device_put_replicated") else \
        {name: np.stack([value] * DEVICES) for name, value in PARAMS.items()}
    return lambda: jax.block_until_ready(mapped(copies, *BATCH))


def minima(samples: Samples) -> dict[str, float]:
    return {who: min(times) for who, times in samples.items()}
