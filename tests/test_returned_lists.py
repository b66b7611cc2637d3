"""Lists that compiled functions return, and of which the program finds the length."""

import numpy as np
import pytest

from transformer import NotSupported, grad, jit, vmap


def collatz(n):
    steps = [n]
    while steps[-1] != 1:
        steps.append(steps[-1] // 2 if steps[-1] % 2 == 0 else 3 * steps[-1] + 1)
    return steps


def sieve(n):
    primes = []
    for i in range(2, n):
        is_prime = True
        for p in primes:
            if i % p == 0:
                is_prime = False
                break
        if is_prime:
            primes.append(i)
    return primes


def path(x, end):
    times, places = [0.0], [x]
    while times[-1] < end:
        places.append(places[-1] * 1.1)
        times.append(times[-1] + 0.1)
    return {"times": times, "places": places}


def pairs(x):
    return [(k, v) for k, v in enumerate(x) if v > 0], len(x)


def growing(x, end):
    rows = []
    while np.sum(x) < end:
        x = x * 1.5
        rows.append(x)
    return rows


def orbit(x, n):
    xs = []
    for _ in range(n):
        x = 3.5 * x * (1 - x)
        xs.append(x)
    return xs


def until(x, limit):
    doubled = []
    for value in x:
        doubled.append(value * 2)
        if value > limit:
            break
    return doubled


def array_until(x, limit):
    return np.array(until(x, limit)), len(x)


def written_until(x, limit):
    y = np.array(until(x, limit))
    y[0] = limit
    return y


@pytest.mark.parametrize(("function", "calls"), [
    (collatz, [(6,), (1,)]),
    (sieve, [(30,), (2,)]),
    (path, [(1.0, 0.35), (2.0, 0.0)]),
    (pairs, [(np.arange(4.0),), (np.zeros(3),), (np.arange(3, dtype=np.float32),)]),
    (growing, [(np.ones(2), 10.0), (np.ones(2), 0.0)]),
    (orbit, [(0.3, 5), (0.3, 0)]),
    *((function, [(np.arange(4.0), 1.0), (np.arange(4.0), 9.0)]) for function in (until, array_until, written_until)),
], ids=lambda value: getattr(value, "__name__", ""))
def test_lists_are_those_of_the_function(function, calls):
    compiled = jit(function)
    for args in calls:
        found, wanted = compiled(*args), function(*args)
        assert repr(found) == repr(wanted)              # with the classes of all items


def test_one_function_serves_all_lengths():
    compiled = jit(orbit)
    assert compiled.source_for(0.3, 5) == compiled.source_for(0.3, 2000)
    assert compiled.source_for(0.3, 5).endswith("    return xs.tolist()\n")


@pytest.mark.parametrize("transformed", [
    lambda: vmap(pairs)(np.ones((2, 3))),
    lambda: grad(lambda x: (x, path(x, 1.0)), has_aux=True)(1.0),
], ids=["vmap", "aux"])
def test_other_transformations_refuse_them(transformed):
    with pytest.raises(NotSupported, match="a list filled by a loop cannot be returned"):
        transformed()
