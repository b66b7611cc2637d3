"""Settings that hold for the whole process.

>>> import transformer
>>> transformer.config.debug_nans
False
"""

from __future__ import annotations

import operator
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def _default_cache() -> Path:
    if chosen := os.environ.get("TRANSFORMER_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "transformer"
    try:
        return Path.home() / ".cache" / "transformer"
    except RuntimeError:                        # a process without a home
        return Path(tempfile.gettempdir()) / "transformer"


def _default_threads() -> int:
    """The processors that this process may use, or fewer by ``TRANSFORMER_THREADS``."""
    usable = getattr(os, "sched_getaffinity", None)
    return _number("TRANSFORMER_THREADS") or (len(usable(0)) if usable is not None else os.cpu_count() or 1)


def _number(variable: str) -> int | None:
    """The number from 1 in a variable of the environment, if it has one; anything else is told."""
    text = os.environ.get(variable, "")
    if text.strip().isdecimal() and int(text) > 0:
        return int(text)
    if text:
        warnings.warn(f"{variable} is {text!r}, which is not a positive integer, and is ignored", RuntimeWarning,
                      stacklevel=2)
    return None


def _switch(variable: str, default: str) -> bool:
    """Whether a variable of the environment turns something on."""
    return os.environ.get(variable, default) not in OFF


OFF = ("0", "false", "False", "")
AT_LEAST_ONE = {"threads": "thread", "cpu_devices": "device", "cuda_devices": "device"}


@dataclass
class Config:
    """Settings of the process. Environment variables, in brackets, set what they are at first.

    cache            the folder of generated source files (TRANSFORMER_CACHE)
    check            run the checker of Core between all stages (TRANSFORMER_CHECK)
    cpu_devices      the number of devices of this computer's CPUs; default 1 (TRANSFORMER_CPU_DEVICES)
    cuda_devices     the number of GPUs if kernels run as Python (NUMBA_ENABLE_CUDASIM=1); default 1. Otherwise all that
                     the computer has (TRANSFORMER_CUDA_DEVICES)
    debug_nans       report the first NaN of a generated function with the user's line
    enable_x64       whether arrays on devices may have 64 bits (TRANSFORMER_ENABLE_X64). Without, what
                     `transformer.numpy` and `device_put` make is float32, int32, uint32 or complex64, as in JAX;
                     NumPy's own arrays stay as they are
    graph_share      the share of a GPU's memory that graphs of repeated calls may keep, from 0 to 1 (docs/cuda.md); 0
                     disables graphs
    internal_frames  whether tracebacks of errors about a program include the frames of the transformation
                     (TRANSFORMER_INTERNAL_FRAMES)
    patience         after so many seconds of waiting for a device, a warning says what it runs
    threads          the largest number of threads that share the loops of a compiled function (TRANSFORMER_THREADS);
                     below 1, ValueError
    """

    debug_nans: bool = False
    cache: Path = field(default_factory=_default_cache)
    check: bool = field(default_factory=lambda: _switch("TRANSFORMER_CHECK", "0"))
    threads: int = field(default_factory=_default_threads)
    cpu_devices: int = field(default_factory=lambda: _number("TRANSFORMER_CPU_DEVICES") or 1)
    cuda_devices: int = field(default_factory=lambda: _number("TRANSFORMER_CUDA_DEVICES") or 1)
    graph_share: float = 0.1
    internal_frames: bool = field(default_factory=lambda: _switch("TRANSFORMER_INTERNAL_FRAMES", "0"))
    patience: float = 60.0
    enable_x64: bool = field(default_factory=lambda: _switch("TRANSFORMER_ENABLE_X64", "1"))

    def update(self, name: str, value: Any) -> None:
        """Sets what JAX calls ``jax_`` and a name here: `jax_enable_x64`, `jax_debug_nans`. Settings of JAX that could
        change no number, such as of logging and of platforms, change nothing; others are an AttributeError."""
        if name not in OF_JAX_ALONE:
            setattr(self, name.removeprefix("jax_"), value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dataclass_fields__:
            raise AttributeError(f"there is no setting {name!r}; the settings are "
                                 f"{', '.join(self.__dataclass_fields__)}")
        if name == "cache":
            value = Path(value)
        if name in AT_LEAST_ONE:
            value = operator.index(value)
            if value < 1:
                raise ValueError(f"config.{name} is {value}; it must be at least 1 ({AT_LEAST_ONE[name]})")
        before = getattr(self, name, value)
        object.__setattr__(self, name, value)
        if name in ("threads", "enable_x64") and value != before:
            for follow in followers:
                follow(name, before, value)


OF_JAX_ALONE = frozenset(("jax_platform_name", "jax_platforms", "jax_log_compiles", "jax_default_matmul_precision",
                          "jax_threefry_partitionable", "jax_traceback_filtering", "jax_compilation_cache_dir"))

followers: list[Callable[[str, int, int], None]] = []  # called when what code is generated for has changed


config = Config()
