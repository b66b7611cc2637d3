import numpy as np
import transformer


def ring_loss_phase2(u):
    return u[-1:].copy(), u[:1].copy()


def ring_loss_phase3(c, before, u, after):
    wide = np.concatenate([before, u, after])
    u = u + c * (wide[2:] - 2 * u + wide[:-2])
    return u


def ring_loss_phase4(u):
    du = 2 * u
    return du


def ring_loss_phase5(c, du):
    n = len(du)
    scaled = du * c
    dwide = np.zeros(n + 2)
    dwide[:-2] = scaled
    dwide[2:] += scaled
    dafter = dwide[n + 1:]
    dbefore = dwide[:1]
    return scaled, dwide, dafter.copy(), dbefore.copy()


def ring_loss_phase6(part, du, dwide, dafter, dbefore):
    du = du - 2 * part
    du = du + dwide[1:len(part) + 1]
    du[:1] += dafter
    du[-1:] += dbefore
    return du


def ring_loss_grad_pmap(u, c):
    # u: f64[n]
    # c: float
    for _ in range(3):
        result, result2 = ring_loss_phase2(u)
        before = transformer.ppermute(result, "ring", ((0, 1), (1, 2), (2, 3), (3, 0)))
        after = transformer.ppermute(result2, "ring", ((0, 3), (1, 0), (2, 1), (3, 2)))
        u = ring_loss_phase3(c, before, u, after)
    du = ring_loss_phase4(u)
    for _ in range(3):
        result, dwide, dafter, dbefore = ring_loss_phase5(c, du)
        dafter = transformer.ppermute(dafter, "ring", ((0, 1), (1, 2), (2, 3), (3, 0)))
        dbefore = transformer.ppermute(dbefore, "ring",
            ((0, 3), (1, 0), (2, 1), (3, 2)))
        du = ring_loss_phase6(result, du, dwide, dafter, dbefore)
    return du
