"""Programs that use special functions as people do: fits, likelihoods, waves, special polynomials."""

import numpy as np
import scipy.special as sp
import scipy.stats
from scipy.special import gammaincc, gammaln, i0e, jv

from .program import Program, fixed, normal, positive

RADII = np.array([0.4, 1.3, 2.2, 3.1, 4.7])
SAMPLE = np.array([0.6, 1.4, 0.9, 2.3, 1.1])
ANGLES = np.array([0.3, -0.8, 1.9, 0.1, -2.6])


def bessel_fit(p, r, y):
    """A wave on a membrane: amplitude, wave number, damping."""
    model = p[0] * sp.j0(p[1] * r) + p[2] * jv(2, p[1] * r)
    return np.sum((model - y) ** 2)


def likelihood_of_gamma(p, x):
    shape, rate = np.exp(p[0]), np.exp(p[1])
    return np.sum(shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x)


def censored_gamma(rate, x, seen):
    """Of some it is only known that they lived longer."""
    total = 0.0
    for k in range(len(x)):
        if seen[k]:
            total += 2.5 * np.log(rate) + 1.5 * np.log(x[k]) - rate * x[k] - gammaln(2.5)
        else:
            total += np.log(gammaincc(2.5, rate * x[k]))
    return total


def beta_distribution(x, q):
    return np.sum((sp.betainc(2.0, 3.5, x) - q) ** 2)


def von_mises(p, angles):
    mean, kappa = p[0], np.exp(p[1])
    return np.sum(kappa * (np.cos(angles - mean) - 1)) - len(angles) * np.log(2 * np.pi * i0e(kappa))


def pendulum_period(angle):
    return 4 * sp.ellipk(np.sin(angle / 2) ** 2)


def waveguide(x):
    return np.sum(sp.kv(1, x) * sp.iv(1, x) + sp.yv(0, x) * sp.k0(x) + sp.kve(1, x) * sp.ive(1, x))


def diffraction(x):
    s, c = sp.fresnel(x)
    return np.sum((s + 0.5) ** 2 + (c + 0.5) ** 2)


def antenna(x):
    si, ci = sp.sici(x)
    return np.sum(si * np.sin(x) - ci * np.cos(x))


def legendre_series(c, x):
    total = 0.0
    for n in range(4):
        total = total + c[n] * sp.eval_legendre(n, x)
    return np.sum(total**2)


def well_function(u):
    return np.sum(sp.exp1(u) + sp.expn(2, u) + sp.expi(u))


def diode(x):
    return np.sum(np.real(sp.lambertw(x)) ** 2)


def box_cox(p, x):
    y = sp.boxcox(x, p)
    return np.sum((y - np.mean(y)) ** 2) - (p - 1) * np.sum(np.log(x))


def robust(r, delta):
    return np.sum(sp.huber(delta, r) + sp.pseudo_huber(1.5, r) + sp.kl_div(r**2 + 1, 2.0))


def student_and_chi(x):
    return np.sum(sp.stdtr(4, x) * sp.chdtr(3, x) + sp.fdtr(3, 5, x) + sp.pdtr(2, x))


def profile(x):
    return np.sum(np.real(sp.wofz(x + 0.5j)) * sp.dawsn(x) + sp.erfcx(x))


def binomials(n):
    return np.sum(sp.binom(n + 3, 2) + sp.poch(n, 2.5) * sp.rgamma(n) + np.real(sp.loggamma(n)))


def orders_in_an_array(x):
    return np.sum(sp.jv(np.arange(3), x) * sp.eval_hermite(np.arange(3), x))


def hurwitz(q):
    return np.sum(sp.zeta(2.5, q) ** 2)


PRIOR = scipy.stats.norm(0.0, 2.0)


def frozen_distributions(x, scale):
    likelihood = scipy.stats.norm(loc=x[0], scale=scale)
    both = sum(each.pdf(scale) for each in [PRIOR, likelihood])
    return np.sum(likelihood.logpdf(x)) + scipy.stats.gamma(2.5, scale=2.0).logpdf(scale) + both


PROGRAMS = [
    Program(frozen_distributions, fixed(np.array([0.3, -1.2, 0.7]), 1.25), (0, 1)),
    Program(bessel_fit, fixed(np.array([1.2, 0.9, 0.3]), RADII, SAMPLE), wrt=(0, 1)),
    Program(likelihood_of_gamma, fixed(np.array([0.4, -0.3]), SAMPLE), wrt=(0, 1)),
    Program(censored_gamma, fixed(0.8, SAMPLE, np.array([True, False, True, True, False]))),
    Program(beta_distribution, lambda rng: (rng.uniform(0.2, 0.8, 4), rng.uniform(0.2, 0.8, 4)), wrt=(0, 1)),
    Program(von_mises, fixed(np.array([0.2, 0.5]), ANGLES), wrt=(0, 1)),
    Program(pendulum_period, fixed(0.9)),
    Program(waveguide, positive((3,))),
    Program(diffraction, fixed(np.array([0.3, -0.7, 1.1]))),
    Program(antenna, positive((3,))),
    Program(legendre_series, fixed(np.array([0.3, -1.2, 0.7, 0.4]), np.array([0.2, -0.6, 0.9])), wrt=(0, 1)),
    Program(well_function, positive((3,))),
    Program(diode, positive((3,))),
    Program(box_cox, fixed(0.4, SAMPLE), wrt=(0, 1)),
    Program(robust, fixed(np.array([0.3, -1.7, 0.8, 2.4]), 1.2), wrt=(0, 1)),
    Program(student_and_chi, positive((3,))),
    Program(profile, normal((3,))),
    Program(binomials, positive((3,))),
    Program(orders_in_an_array, fixed(0.7)),
    Program(hurwitz, positive((3,))),
]
