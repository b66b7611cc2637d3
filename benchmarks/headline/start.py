"""From `import numpy` to a first result in a new process, with and without what an earlier one left in its cache."""

import os
import subprocess
import sys
import tempfile

from benchmarks.contest.lazily import has_jax
from benchmarks.timing import show

OURS = """
from time import perf_counter; begun = perf_counter()
import numpy as np
from transformer import grad, jit
def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)
jit(grad(loss))(np.ones(3), np.ones((5, 3)), np.ones(5))
print(perf_counter() - begun)
"""
JAX = """
from time import perf_counter; begun = perf_counter()
import numpy as np, os
import jax, jax.numpy as jnp
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_compilation_cache_dir", os.environ["TRANSFORMER_CACHE"])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)
jax.block_until_ready(jax.jit(jax.grad(loss))(np.ones(3), np.ones((5, 3)), np.ones(5)))
print(perf_counter() - begun)
"""
ROUNDS = 5


def starts(found):
    """Lines about new processes: the first one, and the least of those after it."""
    programs = {"transformer": OURS} | ({"JAX": JAX} if has_jax() else {})
    return [line(name, program) for name, program in programs.items()]


def line(name, program):
    """After one that is not counted: packages that are installed have their bytecode."""
    with tempfile.TemporaryDirectory() as folder:
        elapsed(program, folder)
    with tempfile.TemporaryDirectory() as folder:
        first, *later = (elapsed(program, folder) for _ in range(1 + ROUNDS))
    return (f"a new process, from `import numpy` to a gradient, {name}: {show(first)} with an empty cache, "
            f"{show(min(later))} with a full one")


def elapsed(program, folder):
    """Of a program in a file, the same one each time, as programs are."""
    file = os.path.join(folder, "program.py")
    with open(file, "w") as opened:
        opened.write(program)
    path = os.pathsep.join([os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"TRANSFORMER_CACHE": os.path.join(folder, "cache"), "PYTHONPATH": path}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)
