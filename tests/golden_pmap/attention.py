import numpy as np
import transformer


def attention_phase1(q, k, v, number):
    n = q.shape[1]
    scores = q @ k.reshape(k.size // n, n).T / np.sqrt(n)
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    return weights @ v.reshape(4 * v.shape[1], v.shape[2]) + 0.0 * number


def attention_pmap(q, k, v):
    # q: f64[n, m]
    # k: f64[d, p]
    # v: f64[r, s]
    k = transformer.all_gather(k, "rows")
    v = transformer.all_gather(v, "rows")
    return attention_phase1(q, k, v, transformer.axis_index("rows"))
