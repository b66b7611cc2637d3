"""Kernels over grids of blocks: a product of matrices by tiles, a softmax in one pass, attention in one pass.

    python samples/kernels.py            (--plain leaves out what is compiled)

Each is called as it is, which runs NumPy block by block and tests what blocks store, and compiled by `jit`, which
shares the blocks to threads; both are compared with plain NumPy. Attention never holds the matrix of all weights,
forwards or backwards: its derivative is given by two more kernels.
"""

import sys

import numpy as np

from transformer import custom_vjp, grad, jit
from transformer.kernels import cdiv, kernel, load, store

TILE = 32  # rows and columns of a tile of a matrix
ROWS = 16  # of queries and keys that meet in a block
WIDTH = 16  # columns of queries and values, at most


def part(i, size):
    """The elements that are those of block i."""
    return slice(size * i, size * i + size)


# -- a product of matrices -----------------------------------------------------------------------


def tiles_of_product(x, w):
    return cdiv(x.shape[0], TILE), cdiv(w.shape[1], TILE)


@kernel(grid=tiles_of_product, out=lambda x, w: np.empty((x.shape[0], w.shape[1]), x.dtype))
def matmul(block, x, w, y):
    """x @ w, for x of [n, m] and w of [m, k]: a block makes a tile of it, from tiles of a fixed size."""
    i, j = block
    total = np.zeros((TILE, TILE), x.dtype)
    for k in range(cdiv(x.shape[1], TILE)):
        total += load(x, (TILE * i, TILE * k), (TILE, TILE)) @ load(w, (TILE * k, TILE * j), (TILE, TILE))
    store(y, (TILE * i, TILE * j), total)


# -- softmax -------------------------------------------------------------------------------------


@kernel(grid=lambda x: (cdiv(len(x), ROWS),), out=np.empty_like)
def softmax(block, x, y):
    """exp(x) / sum(exp(x)) along the rows of x, for x of [n, m]: a block reads and writes its rows once."""
    rows = part(block[0], ROWS)
    shifted = np.exp(x[rows] - np.max(x[rows], axis=1, keepdims=True))
    y[rows] = shifted / np.sum(shifted, axis=1, keepdims=True)


# -- attention -----------------------------------------------------------------------------------


def scale(q):
    return 1 / np.sqrt(q.shape[1])


def check_widths(q, v):
    """Tiles of so many columns are what a block has room for."""
    if q.shape[1] > WIDTH or v.shape[1] > WIDTH:
        raise ValueError(f"queries and values have {WIDTH} columns at most")


def blocks_of_queries(q, k, v, *others):
    check_widths(q, v)
    return (cdiv(len(q), ROWS),)


def blocks_of_keys(q, k, v, *others):
    check_widths(q, v)
    return (cdiv(len(k), ROWS),)


def results_of_attention(q, k, v):
    return np.empty((len(q), v.shape[1]), q.dtype), np.empty(len(q), q.dtype)


@kernel(grid=blocks_of_queries, out=results_of_attention)
def attend(block, q, k, v, y, logs):
    """softmax(q @ k.T * scale) @ v, for q of [n, d], k of [m, d] and v of [m, e], and the logarithms of what the
    softmax divides by. Keys come in tiles; what has been summed is scaled again where a larger score turns up."""
    rows = part(block[0], ROWS)
    queries = q[rows, :WIDTH] * scale(q)
    highest = np.full(len(queries), -np.inf, q.dtype)
    total = np.zeros(len(queries), q.dtype)
    values = np.zeros_like(y[rows, :WIDTH])
    for j in range(cdiv(len(k), ROWS)):
        scores = queries @ k[part(j, ROWS), :WIDTH].T
        higher = np.maximum(highest, np.max(scores, axis=1))
        weights = np.exp(scores - higher[:, None])
        faded = np.exp(highest - higher)
        total = faded * total + np.sum(weights, axis=1)
        values = faded[:, None] * values + weights @ v[part(j, ROWS), :WIDTH]
        highest = higher
    y[rows] = values / total[:, None]
    logs[rows] = highest + np.log(total)


@kernel(grid=blocks_of_queries, out=lambda q, k, v, dy, logs, shares: np.empty_like(q))
def queries_backwards(block, q, k, v, dy, logs, shares, dq):
    """The cotangent of q; `shares` are the sums of y * dy along rows."""
    rows = part(block[0], ROWS)
    total = np.zeros_like(q[rows, :WIDTH])
    for j in range(cdiv(len(k), ROWS)):
        keys = k[part(j, ROWS)]
        weights = np.exp(q[rows] @ keys.T * scale(q) - logs[rows, None])
        dscores = weights * (dy[rows] @ v[part(j, ROWS)].T - shares[rows, None])
        total += dscores @ keys
    dq[rows] = total * scale(q)


def shapes_of_keys(q, k, v, dy, logs, shares):
    return np.empty_like(k), np.empty_like(v)


@kernel(grid=blocks_of_keys, out=shapes_of_keys)
def keys_backwards(block, q, k, v, dy, logs, shares, dk, dv):
    """The cotangents of k and v. Sums over queries are a loop, as blocks do not add to each other's elements."""
    rows = part(block[0], ROWS)
    keys, values = np.zeros_like(k[rows, :WIDTH]), np.zeros_like(v[rows, :WIDTH])
    for i in range(cdiv(len(q), ROWS)):
        queries, dys = q[part(i, ROWS)], dy[part(i, ROWS)]
        weights = np.exp(queries @ k[rows].T * scale(q) - logs[part(i, ROWS), None])
        dscores = weights * (dys @ v[rows].T - shares[part(i, ROWS), None])
        keys += dscores.T @ queries
        values += weights.T @ dys
    dk[rows] = keys * scale(q)
    dv[rows] = values


@custom_vjp
def attention(q, k, v):
    """softmax(q @ k.T * scale) @ v, with memory for tiles of weights only."""
    return attend(q, k, v)[0]


def attention_forwards(q, k, v):
    y, logs = attend(q, k, v)
    return y, (q, k, v, y, logs)


def attention_backwards(kept, dy):
    q, k, v, y, logs = kept
    shares = np.sum(y * dy, axis=1)
    return queries_backwards(q, k, v, dy, logs, shares), *keys_backwards(q, k, v, dy, logs, shares)


attention.defvjp(attention_forwards, attention_backwards)


# -- the same by NumPy ---------------------------------------------------------------------------


def plain_softmax(x):
    shifted = np.exp(x - np.max(x, axis=1, keepdims=True))
    return shifted / np.sum(shifted, axis=1, keepdims=True)


def plain_attention(q, k, v):
    return plain_softmax(q @ k.T * scale(q)) @ v


def difference(one, other):
    """The largest difference of two arrays, or of two tuples of arrays."""
    pairs = zip(one, other) if isinstance(one, tuple) else [(one, other)]
    return max(float(np.max(np.abs(a - b))) for a, b in pairs)


def squared(function):
    """A number that rests on all that a function gives."""
    return lambda *args: np.sum(function(*args) ** 2)


def main(compiled):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(70, 50)), rng.normal(size=(50, 45))
    q, k, v = rng.normal(size=(70, 8)), rng.normal(size=(45, 8)), rng.normal(size=(45, 5))
    for name, run, plain, args in [
        ("matmul", matmul, np.matmul, (x, w)),
        ("softmax", softmax, plain_softmax, (x,)),
        ("attention", attention, plain_attention, (q, k, v)),
    ]:
        wanted = plain(*args)
        argnums = tuple(range(len(args)))
        print(f"{name}: largest differences from NumPy")
        print(f"  block by block {difference(run(*args), wanted):.1e}")
        if compiled:
            print(f"  compiled       {difference(jit(run)(*args), wanted):.1e}")
        slopes = grad(squared(plain), argnums)(*args)
        print(f"  gradient       {difference(grad(squared(run), argnums)(*args), slopes):.1e}")


if __name__ == "__main__":
    main(compiled="--plain" not in sys.argv)
