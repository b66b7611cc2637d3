"""One core and one thread for everything. Imports nothing that reads the settings."""

import os

THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"
FORCED = "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"           # what OpenBLAS would rather see for itself
OF_XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def pin() -> None:
    """Has to come before NumPy, numba and JAX are imported."""
    for name in THREADS:
        os.environ[name] = "1"
    for name in FORCED:
        os.environ.pop(name, None)
    os.environ["XLA_FLAGS"] = OF_XLA
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
