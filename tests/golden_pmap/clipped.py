import numpy as np
import transformer


def clipped_phase1(gradient):
    return np.sum(gradient * gradient)


def clipped_phase2(limit, total):
    norm = np.sqrt(total)
    return norm, norm > limit


def clipped_phase3(gradient):
    return np.max(np.abs(gradient))


def clipped_phase4(gradient, limit, norm, largest):
    gradient = gradient / np.maximum(norm, largest) * limit
    return gradient


def clipped_pmap(gradient, limit):
    # gradient: f64[n]
    # limit: float
    norm, flag = clipped_phase2(limit,
        transformer.psum(clipped_phase1(gradient), "batch"))
    if flag:
        largest = transformer.pmax(clipped_phase3(gradient), "batch")
        gradient = clipped_phase4(gradient, limit, norm, largest)
    return gradient.copy()
