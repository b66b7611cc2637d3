"""Tables that are filled step by step: shortest paths, foldings of RNA, checksums."""

import numpy as np

from benchmarks.contest.case import Case, gradient_of
from benchmarks.contest.lazily import jnp, lax, scan


def floyd_warshall(path):
    path = path.copy()
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, np.add.outer(path[:, k], path[k, :]))
    return path


def floyd_warshall_jax(path):
    return lax.fori_loop(0, path.shape[0], lambda k, path: jnp.minimum(path, path[:, k][:, None] + path[k]), path)


def floyd_warshall_scan_jax(path):
    return scan(lambda path, k: (jnp.minimum(path, path[:, k][:, None] + path[k]), None), path,
                    jnp.arange(path.shape[0]))[0]


def distances(rng, n):
    return rng.integers(1, 1000, (n, n)).astype(np.int32),


def lengths(rng, n):
    return rng.uniform(0.1, 10.0, (n, n)),


def nussinov(sequence):
    n = sequence.shape[0]
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = table[i, j - 1]
            if i + 1 < n:
                best = max(best, table[i + 1, j])
                if i < j - 1 and sequence[i] + sequence[j] == 3:
                    best = max(best, table[i + 1, j - 1] + 1)
                else:
                    best = max(best, table[i + 1, j - 1])
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


def nussinov_jax(sequence):
    """Diagonal by diagonal: `starts[d, i]` is table[i, i + d], `ends[n - 1 - d, j]` is table[j - d, j]."""
    n = sequence.shape[0]
    least = jnp.int32(-1000)
    place = jnp.arange(n)
    padded = jnp.concatenate([sequence, jnp.full(n, 9, sequence.dtype)])

    def diagonal(tables, d):
        starts, ends = tables
        left = starts                                                    # [k, i]: table[i, i + k]
        below = lax.dynamic_slice(jnp.pad(ends, ((0, n), (0, n)), constant_values=-1000), (n - d, d), (n, n))
        middles = (place[:, None] < d) & (place[:, None] > 0)            # below[k, i]: table[i + k + 1, i + d]
        split = jnp.max(jnp.where(middles, left + below, least), axis=0)
        shorter, inner = starts[d - 1], jnp.where(d > 1, starts[d - 2], 0)
        after = jnp.concatenate([shorter[1:], jnp.full(1, least)])
        pairs = (sequence + lax.dynamic_slice(padded, (d,), (n,)) == 3) & (d > 1)
        closed = jnp.concatenate([inner[1:], jnp.zeros(1, jnp.int32)]) + pairs
        best = jnp.maximum(jnp.maximum(shorter, after), jnp.maximum(split, closed))
        best = jnp.where(place < n - d, best, 0)
        return (starts.at[d].set(best), ends.at[n - 1 - d].set(jnp.roll(best, d))), None
    nothing = jnp.zeros((n, n), jnp.int32)
    (starts, _), _ = scan(diagonal, (nothing, nothing), jnp.arange(1, n))
    distance = place[None, :] - place[:, None]
    return jnp.where(distance > 0, starts[jnp.clip(distance, 0), place[:, None]], 0)


def bases(rng, n):
    return rng.integers(0, 4, n).astype(np.int32),


def crc16(data):
    poly = 0x8408
    crc = 0xFFFF
    for byte in data:
        current = 0xFF & int(byte)
        for _ in range(8):
            if (crc & 0x0001) ^ (current & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            current >>= 1
    crc = ~crc & 0xFFFF
    return (crc << 8) | ((crc >> 8) & 0xFF)


def shifted_jax(crc):
    return jnp.where(crc & 1, (crc >> 1) ^ 0x8408, crc >> 1)


def swapped_jax(crc):
    crc = ~crc & 0xFFFF
    return ((crc << 8) | ((crc >> 8) & 0xFF)).astype(jnp.int64)


def crc16_jax(data):
    def step(crc, byte):
        crc = crc ^ byte
        for _ in range(8):
            crc = shifted_jax(crc)
        return crc, None
    return swapped_jax(scan(step, jnp.int64(0xFFFF), data.astype(jnp.int64))[0])


def crc16_table_jax(data):
    table = jnp.arange(256)
    for _ in range(8):
        table = shifted_jax(table)
    return swapped_jax(scan(lambda crc, byte: ((crc >> 8) ^ table[(crc ^ byte) & 0xFF], None), jnp.int64(0xFFFF),
                                data.astype(jnp.int64), unroll=8)[0])


def text(rng, n):
    return rng.integers(0, 256, n).astype(np.uint8),


PATHS = Case("floyd_warshall", floyd_warshall, distances, (200,), (5,), (floyd_warshall_jax, floyd_warshall_scan_jax))
LENGTHS = Case("floyd_warshall of lengths", floyd_warshall, lengths, (100,), (5,), (floyd_warshall_scan_jax,))

CASES = [
    PATHS, gradient_of(LENGTHS, 0), Case("nussinov", nussinov, bases, (150,), (9,), (nussinov_jax,)),
    Case("crc16", crc16, text, (16_384,), (9,), (crc16_jax, crc16_table_jax)),
]
