"""Layers of neural networks, as plain functions of arrays.

    scores = nn.relu(nn.conv2d(images, params["kernel"], padding="same"))
    loss = np.mean(nn.cross_entropy(scores, labels))

What is learned is an argument like any other: a pytree of arrays that you make, with `initializers` or without. Called
in a function that is differentiated, batched or compiled, all of these are read as what they are: a few lines of NumPy.

    relu relu6 leaky_relu elu celu selu gelu silu mish softplus squareplus sigmoid
    log_sigmoid hard_sigmoid hard_silu hard_tanh soft_sign glu swish hard_swish
    softmax log_softmax logsumexp logmeanexp log1mexp tanh identity standardize           activations.py
    one_hot cross_entropy binary_cross_entropy                                            losses.py
    layer_norm rms_norm batch_norm batch_moments                                          normalization.py
    conv2d                                                                                convolution.py
    max_pool avg_pool                                                                     pooling.py
    attention multi_head_attention dot_product_attention split_heads merge_heads
    embedding                                                                             heads.py
    dropout                                                                               dropping.py
    initializers                                                                          initializers.py
"""

import importlib
from typing import TYPE_CHECKING, Any

from .activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    log_softmax,
    logmeanexp,
    logsumexp,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softmax,
    softplus,
    squareplus,
    standardize,
    swish,
    tanh,
)
from .convolution import conv2d
from .dropping import dropout
from .heads import attention, dot_product_attention, embedding, merge_heads, multi_head_attention, split_heads
from .losses import binary_cross_entropy, cross_entropy, one_hot
from .normalization import batch_moments, batch_norm, layer_norm, rms_norm
from .pooling import avg_pool, max_pool

if TYPE_CHECKING:
    from . import initializers

__all__ = [
    "attention",
    "avg_pool",
    "batch_moments",
    "batch_norm",
    "binary_cross_entropy",
    "celu",
    "conv2d",
    "cross_entropy",
    "dot_product_attention",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "layer_norm",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "max_pool",
    "merge_heads",
    "mish",
    "multi_head_attention",
    "one_hot",
    "relu",
    "relu6",
    "rms_norm",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "split_heads",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]


def __getattr__(name: str) -> Any:
    """`initializers` are imported when they are first used, as random numbers are."""
    if name == "initializers":
        return importlib.import_module(".initializers", __name__)
    raise AttributeError(f"module 'transformer.nn' has no attribute {name!r}")
