"""Programs as they are written where derivatives are used: estimation, mechanics, networks, graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Program


def kalman_with_gaps(A, C, log_q, log_r, ys):
    """The log likelihood of a linear model; some observations are missing."""
    m, P = np.zeros(A.shape[0]), np.eye(A.shape[0])
    total = 0.0
    for y in ys:
        m = A @ m
        P = A @ P @ A.T + np.diag(np.exp(log_q))
        if np.isnan(y):
            continue
        S = (C @ P @ C.T)[0, 0] + np.exp(log_r)
        e = y - (C @ m)[0]
        K = (P @ C.T)[:, 0] / S
        m = m + K * e
        P = P - np.outer(K, K) * S
        total -= 0.5 * (np.log(2 * np.pi * S) + e ** 2 / S)
    return total


def kalman_example(rng: Any) -> tuple[Any, ...]:
    ys = rng.standard_normal(6)
    ys[[1, 4]] = np.nan
    return 0.5 * np.eye(2) + 0.1 * rng.standard_normal((2, 2)), rng.standard_normal((1, 2)), -np.ones(2), -0.7, ys


def graph_convolution(x, W, a, source, target):
    """Messages along edges, averaged by the number of edges that arrive."""
    messages = np.zeros((len(x), W.shape[1]))
    np.add.at(messages, target, x[source] @ W)
    arriving = np.bincount(target, minlength=len(x))
    messages = messages / np.maximum(arriving, 1)[:, None]
    return np.log(np.sum(np.exp(np.tanh(messages) @ a)))


def graph_example(rng: Any, size: int = 4) -> tuple[Any, ...]:
    edges = np.array([0, 2, 1, 2, 3, 0]), np.array([1, 1, 0, 3, 0, 2])
    return rng.standard_normal((size, 3)), rng.standard_normal((3, 2)), rng.standard_normal(2), *edges


def springs(position, stiffness, rest):
    """A sheet of masses; neighbours along both axes are tied together."""
    velocity = np.zeros(position.shape)
    for _ in range(3):
        force = np.zeros(position.shape)
        for down, right in [(0, 1), (1, 0)]:
            first = position[:position.shape[0] - down, :position.shape[1] - right]
            apart = position[down:, right:] - first
            length = np.sqrt((apart ** 2).sum(-1, keepdims=True))
            pull = stiffness * (length - rest) * apart / length
            force[:position.shape[0] - down, :position.shape[1] - right] += pull
            force[down:, right:] -= pull
        force[0] = 0
        velocity = 0.99 * (velocity + 0.1 * force)
        position = position + 0.1 * velocity
    return np.sum(position[-1] ** 2)


def springs_example(rng: Any, size: int = 3) -> tuple[Any, ...]:
    grid = np.stack(np.meshgrid(np.arange(size), np.arange(2.0), indexing="ij"), axis=-1)
    return grid + 0.1 * rng.standard_normal(grid.shape), 2.0, 0.8


def soft_clusters(centers, points, sharpness):
    """Means of points by soft assignment, and how far the points are from them."""
    for _ in range(3):
        weight = np.exp(-sharpness * ((points[:, np.newaxis] - centers) ** 2).sum(axis=2))
        weight /= weight.sum(axis=1, keepdims=True)
        centers = (weight.T @ points) / weight.sum(axis=0)[:, None]
    distance = ((points[:, None] - centers) ** 2).sum(axis=2)
    return -np.log(np.exp(-sharpness * distance).sum(axis=1)).sum() / sharpness


def clusters_example(rng: Any, size: int = 6) -> tuple[Any, ...]:
    return rng.standard_normal((2, 2)), rng.standard_normal((size, 2)), 0.7


def bouncing(v, drag, rest):
    """How far a ball flies until it has touched the ground twice, by steps that end at the ground."""
    x, y, bounces = 0.0, 0.0, 0
    vx, vy = v
    while bounces < 2:
        speed = np.hypot(vx, vy)
        vx -= 0.05 * drag * speed * vx
        vy -= 0.05 * (9.81 + drag * speed * vy)
        x += 0.05 * vx
        below = y + 0.05 * vy
        if not below >= 0:
            x -= (1 - y / (y - below)) * 0.05 * vx
            y, vy = 0.0, -rest * vy
            bounces += 1
        else:
            y = below
    return x


def bouncing_example(rng: Any) -> tuple[Any, ...]:
    return np.array([5.0, 8.0]) + 0.1 * rng.standard_normal(2), 0.1, 0.7


def trusses(E, nodes, load):
    """The work of a load on a bar of finite elements."""
    n = len(nodes)
    elements = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    K = np.zeros((n, n))
    each = (E / np.diff(nodes))[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    np.add.at(K, (np.repeat(elements, 2, axis=1).reshape(-1), np.tile(elements, (1, 2)).ravel()), each.ravel())
    return load[1:] @ np.linalg.solve(K[1:, 1:], load[1:])


def trusses_example(rng: Any, size: int = 4) -> tuple[Any, ...]:
    return rng.uniform(0.5, 1.5, size - 1), np.linspace(0, 1, size), rng.standard_normal(size)


def partly_observed(F, H, log_r, ys, observed):
    """The log likelihood of a linear model of which each time some components are seen."""
    m, P = np.zeros(3), np.eye(3)
    R = np.diag(np.exp(log_r))
    total = 0.0
    for t in range(len(ys)):
        seen = observed[t]
        m, P = F @ m, F @ P @ F.T
        if seen.any():
            part = H[seen]
            S = part @ P @ part.T + R[np.ix_(seen, seen)]
            K = np.linalg.solve(S, part @ P).T
            r = ys[t, seen] - part @ m
            m, P = m + K @ r, P - K @ S @ K.T
            total -= 0.5 * (r @ np.linalg.solve(S, r) + np.linalg.slogdet(S)[1] + seen.sum() * np.log(2 * np.pi))
    return total


def observed_example(rng: Any, size: int = 4) -> tuple[Any, ...]:
    seen = np.array([[True, True], [False, True], [False, False], [True, False]])
    return (np.eye(3) + 0.1 * rng.standard_normal((3, 3)), rng.standard_normal((2, 3)), np.full(2, -0.5),
            rng.standard_normal((size, 2)), np.resize(seen, (size, 2)))


def newest_axes(a, b):
    """New axes in all places, before and behind."""
    shifted = a[None, :, None] * b[:, None, None]
    scaled = 2 * (shifted - b[None, :, None, None][0]) / (2 * np.cosh(a)[None, None])
    return np.sum(np.tanh(shifted + a[None]) ** 2) + np.sum(scaled[..., None])


def square_axes(rng: Any, size: int = 3) -> tuple[Any, ...]:
    return rng.standard_normal(size), rng.standard_normal(size)


PROGRAMS = [
    Program(kalman_with_gaps, kalman_example, wrt=(0, 1, 2, 3)),
    Program(graph_convolution, graph_example, wrt=(0, 1, 2)),
    Program(springs, springs_example, wrt=(0, 1, 2)),
    Program(soft_clusters, clusters_example, wrt=(0, 1, 2)),
    Program(bouncing, bouncing_example, wrt=(0, 1, 2)),
    Program(trusses, trusses_example, wrt=(0, 1, 2)),
    Program(partly_observed, observed_example, wrt=(0, 1, 2, 3)),
    Program(newest_axes, square_axes, wrt=(0, 1)),
]
