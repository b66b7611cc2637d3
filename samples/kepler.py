"""Fit an orbit to noisy observations, through the time steps that compute it.

    python samples/kepler.py

A planet was seen twenty times in half a year, with an error of 0.01 in each coordinate. Where it
started is known; its first velocity and the mass of its star are found by BFGS, with the gradient
of the whole simulation. Lengths are in astronomical units, times in years, masses in solar masses.
"""

import numpy as np
from scipy.optimize import minimize

from transformer import value_and_grad

G = 4 * np.pi**2  # a planet at distance 1 from mass 1 takes one year
START = np.array([1.0, 0.0])
TIME_STEP = 0.005
STEPS_BETWEEN = 5
NOISE = 0.01
TRUTH = np.array([1.0, 5.5, 1.1])
GUESS = np.array([0.0, 6.0, 0.8])


def acceleration(position, mass):
    return -G * mass * position / np.sum(position**2) ** 1.5


def advance(position, velocity, mass):
    """One leapfrog step: half a kick, a drift, half a kick."""
    velocity = velocity + 0.5 * TIME_STEP * acceleration(position, mass)
    position = position + TIME_STEP * velocity
    velocity = velocity + 0.5 * TIME_STEP * acceleration(position, mass)
    return position, velocity


def misfit(unknowns, observed):
    """Sum of the squared distances between computed and observed positions.

    unknowns: f64[3], the first velocity and the mass of the star; observed: f64[n, 2].
    """
    position = START
    velocity = unknowns[:2]
    mass = unknowns[2]
    total = 0.0
    for seen in observed:
        for _ in range(STEPS_BETWEEN):
            position, velocity = advance(position, velocity, mass)
        total = total + np.sum((position - seen) ** 2)
    return total


def observe(unknowns, count, rng):
    """Noisy positions of the orbit at equal intervals."""
    position, velocity = START, unknowns[:2]
    seen = []
    for _ in range(count):
        for _ in range(STEPS_BETWEEN):
            position, velocity = advance(position, velocity, unknowns[2])
        seen.append(position)
    return np.array(seen) + rng.normal(0.0, NOISE, (count, 2))


def example():
    """Arguments of `misfit`, for `transformer grad samples/kepler.py:misfit --example example`."""
    return GUESS, observe(TRUTH, 20, np.random.default_rng(0))


def main():
    guess, observed = example()
    misfit_and_gradient = value_and_grad(misfit)
    fit = minimize(misfit_and_gradient, guess, args=(observed,), jac=True, method="BFGS")
    error = NOISE * np.sqrt(2 * fit.hess_inv.diagonal())
    print(misfit_and_gradient.source)
    print(f"{'':12} {'guess':>8} {'fit':>8} {'error':>8} {'truth':>8}")
    names = ["velocity x", "velocity y", "mass"]
    for row in zip(names, guess, fit.x, error, TRUTH, strict=True):
        print("{:12} {:8.4f} {:8.4f} {:8.4f} {:8.4f}".format(*row))
    first = misfit(guess, observed)
    print(f"misfit {first:.3f} -> {fit.fun:.5f} in {fit.nfev} simulations")


if __name__ == "__main__":
    main()
