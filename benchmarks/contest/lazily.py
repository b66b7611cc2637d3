"""JAX's modules, imported when something of them is used: programs are written where JAX may be absent."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


class Lazy:
    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.module), name)


jax: Any = Lazy("jax")
jnp: Any = Lazy("jax.numpy")
lax: Any = Lazy("jax.lax")


class Steps:
    """How `scan` takes the reverse: from what was kept of each step, or by computing the step again."""

    again = False
    taken = False               # whether there were any since this was set to False


def scan(step: Any, *args: Any, **kwargs: Any) -> Any:
    """`lax.scan`, whose steps are computed again in the reverse where `Steps` says so."""
    Steps.taken = True
    return lax.scan(jax.checkpoint(step) if Steps.again else step, *args, **kwargs)


def has_jax() -> bool:
    return importlib.util.find_spec("jax") is not None


def prepare_jax() -> None:
    """Processor and double precision; the first use of all is not to be counted for a program."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    jax.block_until_ready(jax.jit(lambda x: x + 1)(jnp.ones(3)))
