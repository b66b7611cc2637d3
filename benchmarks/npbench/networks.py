"""Layers of neural networks: convolutions, pooling, normalization, attention."""

import numpy as np

from benchmarks.contest.case import Case, gradient_of
from benchmarks.contest.lazily import jax, jnp, lax


def conv2d(x, weights):
    size = weights.shape[0]
    n, height, width = x.shape[0], x.shape[1] - size + 1, x.shape[2] - size + 1
    result = np.empty((n, height, width, weights.shape[3]), x.dtype)
    for i in range(height):
        for j in range(width):
            result[:, i, j, :] = np.sum(
                x[:, i:i + size, j:j + size, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return result


def conv2d_jax(x, weights):
    return lax.conv_general_dilated(x, weights, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv2d_shifted_jax(x, weights):
    """A matrix product for each place of the kernel."""
    size = weights.shape[0]
    height, width = x.shape[1] - size + 1, x.shape[2] - size + 1
    return sum(x[:, i:i + height, j:j + width] @ weights[i, j] for i in range(size) for j in range(size))


def conv2d_bias_jax(x, weights, bias):
    return conv2d_jax(x, weights) + bias


def conv2d_bias_shifted_jax(x, weights, bias):
    return conv2d_shifted_jax(x, weights) + bias


def conv2d_bias(x, weights, bias):
    return conv2d(x, weights) + bias


def conv2d_arguments(rng, n, height, channels, filters, size):
    return (rng.normal(size=(n, height, height, channels)).astype("f4"),
            rng.normal(size=(size, size, channels, filters)).astype("f4"), rng.normal(size=filters).astype("f4"))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def attention(queries, keys, values):
    """Of each head of each item: the last axes are places and features."""
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(np.float32(queries.shape[-1]))
    return softmax(scores) @ values


def attention_jax(queries, keys, values):
    scores = jnp.einsum("bhqd,bhkd->bhqk", queries, keys) / jnp.sqrt(jnp.float32(queries.shape[-1]))
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), values)


def attention_arguments(rng, batch, heads, places, features):
    return tuple(rng.normal(size=(batch, heads, places, features)).astype("f4") for _ in range(3))


def rectified(x):
    return np.maximum(x, 0)


def pooled(x):
    height, width = x.shape[1] // 2, x.shape[2] // 2
    result = np.empty((x.shape[0], height, width, x.shape[3]), x.dtype)
    for i in range(height):
        for j in range(width):
            result[:, i, j, :] = np.max(x[:, 2 * i:2 * i + 2, 2 * j:2 * j + 2, :], axis=(1, 2))
    return result


def lenet(x, conv1, conv1_bias, conv2, conv2_bias, dense1, bias1, dense2, bias2, dense3, bias3):
    x = pooled(rectified(conv2d(x, conv1) + conv1_bias))
    x = pooled(rectified(conv2d(x, conv2) + conv2_bias))
    x = np.reshape(x, (x.shape[0], dense1.shape[0]))
    x = rectified(x @ dense1 + bias1)
    x = rectified(x @ dense2 + bias2)
    return x @ dense3 + bias3


def pooled_jax(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def lenet_jax(x, conv1, conv1_bias, conv2, conv2_bias, dense1, bias1, dense2, bias2, dense3, bias3):
    x = pooled_jax(jax.nn.relu(conv2d_jax(x, conv1) + conv1_bias))
    x = pooled_jax(jax.nn.relu(conv2d_jax(x, conv2) + conv2_bias))
    x = x.reshape(x.shape[0], dense1.shape[0])
    x = jax.nn.relu(x @ dense1 + bias1)
    x = jax.nn.relu(x @ dense2 + bias2)
    return x @ dense3 + bias3


def lenet_arguments(rng, n, height):
    left = ((height - 4) // 2 - 4) // 2             # of the height, after both convolutions and poolings
    shapes = [(5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,), (left * left * 16, 120), (120,), (120, 84), (84,), (84, 10),
              (10,)]
    weights = [rng.normal(0, np.prod(shape[:-1]) ** -0.5, shape) for shape in shapes]
    return tuple(each.astype("f4") for each in (rng.normal(size=(n, height, height, 1)), *weights))


def normalized(x):
    return (x - np.mean(x, axis=0, keepdims=True)) / np.sqrt(np.std(x, axis=0, keepdims=True) + 1e-5)


def resnet(x, conv1, conv2, conv3):
    """A bottleneck: to few channels, across places, back to many, and around all that the input itself."""
    n, height, width, channels = x.shape[0], x.shape[1], x.shape[2], conv1.shape[3]
    padded = np.zeros((n, height + 2, width + 2, channels), x.dtype)
    padded[:, 1:-1, 1:-1, :] = conv2d(x, conv1)
    y = rectified(normalized(padded))
    y = rectified(normalized(conv2d(y, conv2)))
    return rectified(normalized(conv2d(y, conv3)) + x)


def normalized_jax(x):
    return (x - jnp.mean(x, axis=0, keepdims=True)) / jnp.sqrt(jnp.std(x, axis=0, keepdims=True) + 1e-5)


def resnet_jax(x, conv1, conv2, conv3):
    y = jnp.pad(x @ conv1[0, 0], ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = jax.nn.relu(normalized_jax(y))
    y = jax.nn.relu(normalized_jax(conv2d_jax(y, conv2)))
    return jax.nn.relu(normalized_jax(y @ conv3[0, 0]) + x)


def resnet_arguments(rng, n, height, many, few):
    return tuple(rng.normal(size=shape).astype("f4") for shape in
                 ((n, height, height, many), (1, 1, many, few), (3, 3, few, few), (1, 1, few, many)))


CONV2D = Case("conv2d", conv2d_bias, conv2d_arguments, (4, 32, 3, 16, 3), (2, 6, 2, 3, 3),
              (conv2d_bias_jax, conv2d_bias_shifted_jax))
ATTENTION = Case("attention", attention, attention_arguments, (4, 4, 128, 32), (2, 2, 4, 3), (attention_jax,))
LENET = Case("lenet", lenet, lenet_arguments, (8, 28), (2, 16), (lenet_jax,))
RESNET = Case("resnet", resnet, resnet_arguments, (8, 14, 64, 16), (3, 4, 4, 2), (resnet_jax,))

CASES = [
    CONV2D, gradient_of(CONV2D, 0, 1, 2), ATTENTION, gradient_of(ATTENTION, 0, 1, 2), LENET,
    gradient_of(LENET, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), RESNET, gradient_of(RESNET, 1, 2, 3),
]
