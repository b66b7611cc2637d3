"""The error function: a polynomial near 0, and `1 - exp(-g(x))` beyond 1.

Its complement: `exp(-a**2) p(t) / (1 + 2 a)`, where p is a polynomial in a fraction t that goes from -1 to 1.
The fraction is that of M. Shepherd and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x**2) erfc(x) in
0 <= x < infinity", Math. Comp. 36 (1981).
"""

import numpy as np

from .exponential import moderate_exp_f32, moderate_exp_f64, reduced_expm1_f64
from .pairs import product_f64
from .polynomial import polynomial, scaled_f64


def erf_f64(x):
    a = 6.0 if abs(x) > 6.0 else abs(x)
    far = 1.0 - moderate_exp_f64(-polynomial(
        a, 1.0634138344446254e-06, 1.12836871380312, 0.6366675721221341, 0.1026376666636078,
        -0.01886541329136729, -0.0005840290442307299, 0.0020987454129083832, -0.0009199262133173128,
        0.00023064196888355305, -2.7997275360242454e-05, -3.6106974283444205e-06, 2.6728393013855264e-06,
        -6.877152309685293e-07, 1.0821505187656227e-07, -1.0902731752740965e-08, 6.517765560016467e-10,
        -1.770314843619608e-11))
    return np.copysign(far if a > 1.0 else near_erf_f64(a), x)


def near_erf_f64(x):
    """The error function of at most 1."""
    return x + x * polynomial(
        x * x, 0.1283791670955126, -0.3761263890318375, 0.11283791670954857, -0.0268661706450729,
        0.005223977624780897, -0.0008548326978743887, 0.00012055331036958146, -1.49255935082179e-05,
        1.6460972837070267e-06, -1.6350025422970083e-07, 1.4657881117444617e-08, -1.1365670651581247e-09,
        5.945269338636726e-11)


def erf_f32(x):
    a = 4.0 if abs(x) > 4.0 else abs(x)
    z = a * a
    near = a + a * polynomial(
        z, 0.12837917, -0.37612626, 0.112835854, -0.026853811, 0.0051883277, -0.00080101937, 7.853866e-05)
    far = 1.0 - moderate_exp_f32(-polynomial(
        a, 0.0003415708, 1.127089, 0.6381452, 0.10310643, -0.0218379, 0.0029476143, -0.00018637434))
    return np.copysign(far if a > 1.0 else near, x)


def erfc_f64(x):
    a = 28.0 if abs(x) > 28.0 else abs(x)
    square, square_lost = product_f64(a, a)
    _, n, r, rest = reduced_expm1_f64(-square)
    power = 1.0 + (r + rest)
    power_lost = 1.0 - power + r + rest - square_lost * power
    factor, factor_lost = scaled_complement_f64((a - 4.0) / (a + 4.0))
    above = power * factor
    above_lost = power * factor - above + (power_lost * factor + power * factor_lost)
    below = 1.0 + 2.0 * a
    inverse = 1.0 / below
    y = above * inverse
    y = scaled_f64(y + (above - y * below + (above_lost - y * lost_in_f64(below, a))) * inverse, n)
    y = 2.0 - y if x < 0.0 else y
    return 1.0 - near_erf_f64(x) if a < 0.5 else y


def lost_in_f64(below, a):
    """What is lost in `below = 1 + 2 a`."""
    back = below - 1.0
    return 2.0 * a - back + (1.0 - (below - back))


def scaled_complement_f64(t):
    """`(1 + 2 a) exp(a**2) erfc(a)` in two parts, for `t = (a - 4) / (a + 4)`."""
    z = t * t
    even = polynomial(
        z, 0.01537965210261966, -0.10103906603629997, -0.06633036581230965,
        -0.016197734056762784, -0.0007577732959327711, 0.00015062171282301682, -1.1222168571586627e-05,
        2.9417486554324835e-07, 7.403056803589443e-08, -1.7370897181773023e-08, 1.6315263166861567e-09)
    odd = polynomial(
        z, -0.13962111684056253, 0.06809705425469545, 0.09373283499825052, 0.03716751553910002,
        0.005031969963482519, -0.00019925661611505077, -2.439948085756495e-05, 5.710294057965846e-06,
        -8.261105203697419e-07, 1.1044141365249552e-07, -1.4090790828480399e-08, 1.1850273640018752e-09)
    rest = z * even + t * odd
    total = 1.2329951186255526 + rest
    return total, 1.2329951186255526 - total + rest


def erfc_f32(x):
    """In double precision."""
    y = short_erfc_f64(np.float64(11.0 if abs(x) > 11.0 else abs(x)))
    return np.float32(2.0 - y if x < 0.0 else y)


def short_erfc_f64(a):
    shifted, below = a + 2.0, 1.0 + 2.0 * a
    inverse = 1.0 / (shifted * below)
    t = (a - 2.0) * below * inverse
    z = t * t
    even = polynomial(z, 1.2769783826828551, -0.1660305222474518, -0.05421781067183953, 0.0087089422086071,
                      -0.0014202745582529753, 0.00016880771558060227)
    odd = polynomial(z, -0.09276382094798936, 0.1640510500172652, -0.008030956250072349, 0.001252952045816331,
                     -0.00040086380421372356, 7.916500327345161e-05)
    return moderate_exp_f64(-a * a) * (even + t * odd) * (shifted * inverse)
