import numpy as np
import transformer


def step_phase1(w1, b1, w2, x, y):
    hidden = np.tanh(x @ w1 + b1)
    diff = hidden @ w2 - y
    value = np.mean(diff ** 2)
    # reverse
    ddiff = 2.0 / x.shape[0] * diff
    dparams = hidden.T @ ddiff
    dtotal = np.outer(ddiff, w2) * (1 - hidden * hidden)
    dparams2 = np.sum(dtotal, axis=0)
    dparams3 = x.T @ dtotal
    return value, dparams, dparams2, dparams3


def step_phase2(w1, b1, w2, rate, dparams, dparams2, dparams3):
    return w1 - rate * dparams, b1 - rate * dparams2, w2 - rate * dparams3


def step_pmap(params, x, y, rate):
    # w1: f64[n, m]
    # b1, w2: f64[m]
    # x: f64[d, n]
    # y: f64[d]
    # rate: float
    w1 = params["w1"]
    b1 = params["b1"]
    w2 = params["w2"]
    value, dparams, dparams2, dparams3 = step_phase1(w1, b1, w2, x, y)
    dparams3 = transformer.pmean(dparams3, "batch")
    dparams2 = transformer.pmean(dparams2, "batch")
    dparams = transformer.pmean(dparams, "batch")
    value = transformer.pmean(value, "batch")
    result, result2, result3 = step_phase2(w1, b1, w2, rate, dparams3, dparams2,
        dparams)
    return {"w1": result, "b1": result2, "w2": result3}, value
