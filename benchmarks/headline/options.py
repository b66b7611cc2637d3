"""Black and Scholes: prices of options, and their derivatives for all that they depend on."""

import numpy as np
from scipy.special import erf

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jax, jnp

from .by_hand import by_hand, summing
from .by_hand import erf as erf_by_hand
from .by_hand import exp as exp_by_hand
from .by_hand import log as log_by_hand


def normal(x):
    return 0.5 * (1 + erf(x * 0.7071067811865476))       # np.sqrt(2) would make float64 of float32


def prices(spot, strike, years, rate, volatility):
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / (volatility * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    return spot * normal(d1) - strike * np.exp(-rate * years) * normal(d2)


def portfolio(spot, strike, years, rate, volatility, amounts):
    return np.sum(amounts * prices(spot, strike, years, rate, volatility))


def prices_jax(spot, strike, years, rate, volatility):
    spread = volatility * jnp.sqrt(years)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    return spot * normal_jax(d1) - strike * jnp.exp(-rate * years) * normal_jax(d1 - spread)


def normal_jax(x):
    return 0.5 * (1 + jax.lax.erf(x * 0.7071067811865476))


def prices_ndtr_jax(spot, strike, years, rate, volatility):
    spread = volatility * jnp.sqrt(years)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    ndtr = jax.scipy.special.ndtr
    return spot * ndtr(d1) - strike * jnp.exp(-rate * years) * ndtr(d1 - spread)


def portfolio_jax(spot, strike, years, rate, volatility, amounts):
    return jnp.sum(amounts * prices_jax(spot, strike, years, rate, volatility))


def portfolio_ndtr_jax(spot, strike, years, rate, volatility, amounts):
    return jnp.sum(amounts * prices_ndtr_jax(spot, strike, years, rate, volatility))


ROOT = 0.7071067811865476
DENSITY = 0.3989422804014327            # 1 / sqrt(2 pi)


@by_hand
def prices_loop(spot, strike, years, rate, volatility, result):
    for i in range(spot.size):
        spread = volatility[i] * np.sqrt(years[i])
        d1 = (log_by_hand(spot[i] / strike[i]) + (rate + 0.5 * volatility[i] * volatility[i]) * years[i]) / spread
        first = 0.5 * (1 + erf_by_hand(d1 * ROOT))
        second = 0.5 * (1 + erf_by_hand((d1 - spread) * ROOT))
        result[i] = spot[i] * first - strike[i] * exp_by_hand(-rate * years[i]) * second


def prices_by_hand(spot, strike, years, rate, volatility):
    result = np.empty_like(spot)
    prices_loop(spot, strike, years, rate, volatility, result)
    return result


@summing
def greeks_loop(spot, strike, years, rate, volatility, amounts, by_spot, by_strike, by_years, by_volatility):
    total = 0.0
    by_rate = 0.0
    for i in range(spot.size):
        root = np.sqrt(years[i])
        spread = volatility[i] * root
        d1 = (log_by_hand(spot[i] / strike[i]) + (rate + 0.5 * volatility[i] * volatility[i]) * years[i]) / spread
        first = 0.5 * (1 + erf_by_hand(d1 * ROOT))
        second = 0.5 * (1 + erf_by_hand((d1 - spread) * ROOT))
        density = DENSITY * exp_by_hand(-0.5 * d1 * d1)
        discount = exp_by_hand(-rate * years[i])
        owed = strike[i] * discount * second
        amount = amounts[i]
        total += amount * (spot[i] * first - owed)
        by_rate += amount * years[i] * owed
        by_spot[i] = amount * first
        by_strike[i] = -amount * discount * second
        by_years[i] = amount * (spot[i] * density * volatility[i] / (2 * root) + rate * owed)
        by_volatility[i] = amount * spot[i] * density * root
    return total, by_rate


def greeks_by_hand(spot, strike, years, rate, volatility, amounts):
    by_spot, by_strike, by_years, by_volatility = (np.empty_like(spot) for _ in range(4))
    total, by_rate = greeks_loop(spot, strike, years, rate, volatility, amounts, by_spot, by_strike, by_years,
                                 by_volatility)
    return total, (by_spot, by_strike, by_years, by_rate, by_volatility)


def contracts(rng, n):
    return (rng.uniform(80, 120, n), rng.uniform(80, 120, n), rng.uniform(0.2, 2, n), 0.05, rng.uniform(0.1, 0.5, n))


def contracts_and_amounts(rng, n):
    return *contracts(rng, n), rng.normal(size=n)


CASES = [
    Case("Black-Scholes prices, 1e6 f64", prices, contracts, (1_000_000,), (11,), (prices_jax, prices_ndtr_jax),
         hand=prices_by_hand),
    Case("Black-Scholes price and greeks, 1e6 f64", portfolio, contracts_and_amounts, (1_000_000,), (11,),
         (portfolio_jax, portfolio_ndtr_jax), "value_and_grad", (0, 1, 2, 3, 4), hand=greeks_by_hand),
]
