"""`exp`, `exp2`, `expm1`: x = n ln(2) + r, and a polynomial in r, at most ln(2)/2.

ln(2) is subtracted in two parts, of which the first has so few digits that its product with n is exact.
"""

from .polynomial import polynomial, power_of_two_f32, power_of_two_f64, scaled_f32, scaled_f64


def exp_f64(x):
    x = 710.0 if x > 710.0 else -746.0 if x < -746.0 else x
    n = x * 1.4426950408889634 + 6755399441055744.0 - 6755399441055744.0
    high = x - n * 0.6931471803691238
    r = high - n * 1.9082149292705877e-10
    lost = high - r - n * 1.9082149292705877e-10
    z = r * r
    even = polynomial(z, 0.500000000000001, 0.04166666666652199, 0.0013888888947820891,
                      2.4801487326012337e-05, 2.763265575933203e-07)
    odd = polynomial(z, 0.16666666666666674, 0.008333333333322207, 0.00019841269886591,
                     2.7557242336680357e-06, 2.5110049895858716e-08)
    return scaled_f64(1.0 + (r + (z * (even + r * odd) + lost)), n)


def exp_f32(x):
    x = 89.0 if x > 89.0 else -104.0 if x < -104.0 else x
    n = x * 1.44269504 + 12582912.0 - 12582912.0
    high = x - n * 0.693359375
    r = high - n * -2.12194440e-4
    lost = high - r - n * -2.12194440e-4
    z = r * r
    even, odd = polynomial(z, 0.49999994, 0.04166839, 0.0013814548), polynomial(z, 0.16666521, 0.0083687175)
    return scaled_f32(1.0 + (r + (z * (even + r * odd) + lost)), n)


def moderate_exp_f64(x):
    """For arguments of at most 600, to a unit in the last place."""
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    z = r * r
    even = polynomial(z, 0.500000000000001, 0.04166666666652199, 0.0013888888947820891,
                      2.4801487326012337e-05, 2.763265575933203e-07)
    odd = polynomial(z, 0.16666666666666674, 0.008333333333322207, 0.00019841269886591,
                     2.7557242336680357e-06, 2.5110049895858716e-08)
    return power_of_two_f64(shifted) * (1.0 + (r + z * (even + r * odd)))


def moderate_exp_f32(x):
    """For arguments of at most 80, to a unit in the last place."""
    shifted = x * 1.44269504 + 12582912.0
    n = shifted - 12582912.0
    r = x - n * 0.693359375 - n * -2.12194440e-4
    z = r * r
    even, odd = polynomial(z, 0.49999994, 0.04166839, 0.0013814548), polynomial(z, 0.16666521, 0.0083687175)
    return power_of_two_f32(shifted) * (1.0 + (r + z * (even + r * odd)))


def exp2_f64(x):
    x = 1025.0 if x > 1025.0 else -1080.0 if x < -1080.0 else x
    n = x + 6755399441055744.0 - 6755399441055744.0
    r = x - n
    rest = r * polynomial(
        r, 0.6931471805599453, 0.24022650695910072, 0.05550410866482177, 0.009618129107628487,
        0.001333355814637423, 0.00015403530393354775, 1.5252733871034374e-05, 1.3215486823296216e-06,
        1.0178045296501752e-07, 7.0548914678111154e-09, 4.457533018943657e-10, 2.5737813502097133e-11)
    return scaled_f64(1.0 + rest, n)


def exp2_f32(x):
    x = 129.0 if x > 129.0 else -152.0 if x < -152.0 else x
    n = x + 12582912.0 - 12582912.0
    r = x - n
    rest = r * polynomial(
        r, 0.6931472, 0.24022652, 0.055504104, 0.009618038, 0.0013333935, 0.00015466755, 1.5196125e-05)
    return scaled_f32(1.0 + rest, n)


def expm1_f64(x):
    """`2**n (exp(r) - 1) + (2**n - 1)`."""
    shifted, n, r, rest = reduced_expm1_f64(710.0 if x > 710.0 else -40.0 if x < -40.0 else x)
    half = power_of_two_f64(shifted - 1.0)
    scaled = 2.0 * (half * (r + rest) + (half - 0.5))
    return x if x == 0.0 else r + rest if n == 0.0 else scaled


def reduced_expm1_f64(x):
    """n, shifted so that its lowest bits can be read, n, r, and `exp(r) - 1 - r` with what is lost in r."""
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    high = x - n * 0.6931471803691238
    r = high - n * 1.9082149292705877e-10
    lost = high - r - n * 1.9082149292705877e-10
    return shifted, n, r, lost + r * r * polynomial(
        r, 0.5, 0.16666666666666677, 0.04166666666666651, 0.008333333333321691, 0.001388888888896239,
        0.00019841269885964967, 2.4801587172501818e-05, 2.755724437513899e-06, 2.7557402667266356e-07,
        2.5108978554959513e-08, 2.0875325066347777e-09)


def expm1_f32(x):
    """`2**n (exp(r) - 1) + (2**n - 1)`."""
    shifted, n, r, rest = reduced_expm1_f32(89.0 if x > 89.0 else -20.0 if x < -20.0 else x)
    half = power_of_two_f32(shifted - 1.0)
    scaled = 2.0 * (half * (r + rest) + (half - 0.5))
    return x if x == 0.0 else r + rest if n == 0.0 else scaled


def reduced_expm1_f32(x):
    """n, shifted so that its lowest bits can be read, n, r, and `exp(r) - 1 - r` with what is lost in r."""
    shifted = x * 1.44269504 + 12582912.0
    n = shifted - 12582912.0
    high = x - n * 0.693359375
    r = high - n * -2.12194440e-4
    lost = high - r - n * -2.12194440e-4
    return shifted, n, r, lost + r * r * polynomial(
        r, 0.5, 0.16666667, 0.04166624, 0.008333286, 0.0013948593, 0.00019907585)
