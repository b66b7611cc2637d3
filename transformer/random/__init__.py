"""Random numbers as functions of a key: the names of `jax.random`, and its bits.

    from transformer import random

    key = random.key(0)
    key, subkey = random.split(key)
    x = random.normal(subkey, (3,))

A key is an array of two words, `uint32[2]`. The same key always gives the same numbers, in whatever order they are
asked for, plainly, compiled, and for each lane of a batch; new numbers need a new key, which `split` and `fold_in` make
of an old one. Everything is counted by Threefry-2x32 (`ops/random_bits.py`), and written here as plain Python, which is
what a transformation reads. `docs/random.md` says what is equal to JAX to the bit.
"""

from .binomials import binomial, multinomial
from .choosing import categorical, choice, permutation
from .floats import exponential, gumbel, laplace, normal, truncated_normal, uniform
from .formed import (
    ball,
    cauchy,
    chisquare,
    double_sided_maxwell,
    f,
    generalized_normal,
    geometric,
    logistic,
    lognormal,
    maxwell,
    orthogonal,
    pareto,
    rademacher,
    rayleigh,
    t,
    triangular,
    wald,
    weibull_min,
)
from .gammas import beta, dirichlet, gamma, loggamma
from .keys import PRNGKey, bits, clone, fold_in, key, key_data, split, wrap_key_data
from .poissons import poisson
from .vectors import multivariate_normal
from .whole import bernoulli, randint

__all__ = [
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]
