"""All cases on a GPU, one after another: who takes part, results first, then times in turn."""

from __future__ import annotations

import argparse
import copy
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest.checking import disagreement
from benchmarks.contest.contenders import first_line
from benchmarks.contest.lazily import has_jax, jax
from benchmarks.contest.running import is_chosen, progress
from benchmarks.contest.telling import write_section
from transformer import jit, tree
from transformer.run.gpu.library import brought, fetched, is_simulated

from .case import GpuCase, moved
from .cases import CASES
from .clocks import Call, Clock, bandwidth_of_copies, by_events, by_wall, of_launching
from .telling import CUPY, HAND, JAX, OURS, Measured, machine, section, tell, write_json

SECONDS, QUICK_SECONDS = 0.8, 0.2           # for each contender of a case
SAMPLE_SECONDS = 0.01                       # of which a sample has as many calls as fit
LEAST_ROUNDS, MOST_ROUNDS = 5, 200
SMALL_COPY = 1 << 12                        # bytes, where the copy is a simulator's


def contest(options: argparse.Namespace, cases: Sequence[GpuCase] = CASES) -> None:
    """Measures the chosen cases. The page is of complete runs on a GPU alone."""
    warnings.simplefilter("ignore")
    prepare()
    print("\n".join(machine()), flush=True)
    chosen, is_quick = [case for case in cases if is_chosen(case, options.only)], options.quick or is_simulated()
    bandwidth = bandwidth_of_copies(*[SMALL_COPY] * is_simulated())
    found = []
    for number, case in enumerate(chosen):
        progress(number, len(chosen), case.name)
        found.append(measured(case, case.tiny if is_simulated() else case.size,
                              QUICK_SECONDS if is_quick else SECONDS))
        if options.json:                        # a machine may be taken away before the last case
            write_json(Path(options.json), found, bandwidth)
    progress(len(chosen), len(chosen), "")
    tell(found, bandwidth)
    if not options.only and not is_quick:
        write_section("gpu", section(found, bandwidth))


def prepare() -> None:
    """JAX leaves memory to the others, and computes products in the precision of their dtype, as the others do."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if is_beside_jax():
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")


def is_beside_jax() -> bool:
    """Whether JAX is here, and has the GPU."""
    if is_simulated() or not has_jax():
        return False
    try:
        return bool(jax.devices("gpu"))
    except RuntimeError:
        return False


def measured(case: GpuCase, size: tuple[int, ...], budget: float) -> Measured:
    found = Measured(case)
    arguments = case.example(size)
    calls = entered(case, arguments, found)
    if OURS in calls:
        result = tree.map(fetched, calls[OURS]())
        found.bytes = moved(arguments, result)
    try:
        found.samples = sampled(calls, budget, is_of_launching=any(name == "a call" for name, _ in case.goals))
    except Exception as error:              # of the device, of any kind; the next case may do better
        found.notes.append(f"{case.name}: while times were taken: {first_line(error)}")
    return found


def entered(case: GpuCase, arguments: tuple[Any, ...], found: Measured) -> dict[str, Call]:
    """Calls at full size, of those whose results are right at a tiny and at full size."""
    calls = {}
    tiny = case.example(case.tiny)
    wanted = case.ours()(*copy.deepcopy(tiny))
    for name, make in makers(case).items():
        try:
            wrong = disagreement(result_of(make(tiny)), wanted, case.tolerance)
            if not wrong:
                call = make(arguments)
                wrong = disagreement(*case.at_full_size(arguments, result_of(call)), case.tolerance)
            if wrong:
                found.notes.append(f"{case.name}: {name}: {wrong}, beside NumPy")
                found.is_wrong |= name == OURS
            else:
                calls[name] = call
        except Exception as error:          # whatever a package says of what it does not take
            found.notes.append(f"{case.name}: {name}: {first_line(error)}")
    return calls


def makers(case: GpuCase) -> dict[str, Callable[[tuple[Any, ...]], Call]]:
    """By name, what makes a call of arguments, which are on the device already."""
    ours = jit(case.ours(), device="cuda")
    made = {OURS: lambda arguments: on_device(ours, arguments)}
    if not is_simulated() and not case.is_derivative:
        made[CUPY] = lambda arguments: on_device(case.program, arguments)
    if case.jax and is_beside_jax():
        made[JAX] = lambda arguments: fastest_of_jax(case, arguments)
    if case.hand is not None:
        made[HAND] = lambda arguments: on_device(case.hand, arguments)
    return made


def on_device(function: Any, arguments: tuple[Any, ...]) -> Call:
    given = tree.map(brought, arguments)
    return lambda: function(*given)


def fastest_of_jax(case: GpuCase, arguments: tuple[Any, ...]) -> Call:
    static = tuple(k for k, argument in enumerate(arguments) if isinstance(argument, int))
    given = [each if isinstance(each, int | float) else jax.tree.map(jax.device_put, each) for each in arguments]
    tried: list[tuple[float, int, Call]] = []
    for form in case.forms():
        compiled = jax.jit(form, static_argnums=static)

        def call(compiled: Any = compiled) -> Any:
            return compiled(*given)

        by_wall(call, 1)
        tried.append((min(by_wall(call, 1) for _ in range(5)), len(tried), call))
    return min(tried)[2]


def result_of(call: Call) -> Any:
    """A result as arrays of NumPy; numbers of 16 bits as those of 32, which can be subtracted."""
    def plain(leaf: Any) -> Any:
        array = np.asarray(fetched(leaf))
        return array.astype("f4") if array.dtype.itemsize == 2 and array.dtype.kind not in "iu" else array

    return tree.map(plain, call())


def sampled(calls: dict[str, Call], budget: float, is_of_launching: bool) -> dict[str, list[float]]:
    """Seconds per call, everybody in turn."""
    clocks: dict[str, Clock] = {name: of_launching if is_of_launching else by_wall if name == JAX else by_events
                                for name in calls}
    numbers = {name: repeats(call, clocks[name]) for name, call in calls.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(MOST_ROUNDS):
        for name, call in calls.items():
            taken = sum(samples[name]) * numbers[name]
            if taken < budget or len(samples[name]) < LEAST_ROUNDS:
                samples[name].append(clocks[name](call, numbers[name]) / numbers[name])
    return samples


def repeats(call: Call, clock: Clock) -> int:
    """How many calls a sample has; warms the call up."""
    clock(call, 1)
    return max(1, min(1000, round(SAMPLE_SECONDS / max(clock(call, 1), 1e-6))))
