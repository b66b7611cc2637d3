"""Memory that a call has freed is there for the next one."""

from __future__ import annotations

import platform
import resource

import numpy as np

from transformer import grad


def squares_of_running_totals(x):
    return np.sum(np.cumsum(x) ** 2)


def test_calls_touch_no_new_memory() -> None:
    """Of 1.6 MB each, a call has a dozen arrays, of 400 pages: nothing asks the system for them again and again."""
    derived, x = grad(squares_of_running_totals), np.ones(200_000)
    derived(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        derived(x)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < 2000 or platform.libc_ver()[0] != "glibc", faults
