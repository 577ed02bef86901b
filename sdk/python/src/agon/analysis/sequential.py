"""Intervals that hold although the data were looked at several times.

Stopping when an interval looks narrow enough, or a difference large enough, makes ordinary
intervals too optimistic. Repeated confidence intervals (Jennison, Turnbull 1989) use a larger
quantile c, the same at every look (Pocock 1977): all intervals of all looks hold together with the
stated probability, so the one at which somebody stops does too.

c solves `P(|Z_1| <= c, ..., |Z_K| <= c) = level`, where the Z are a standard Brownian motion at the
shares of information of the looks, divided by its standard deviation. The probability is found by
the recursion of Armitage, McPherson, Rowe 1969.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy import stats

from agon.analysis.optimise import brentq
from agon.analysis.results import LEVEL, FloatArray

_POINTS = 101
_NORMAL = 1.0 / float(np.sqrt(2.0 * np.pi))


def probability_within(information: Sequence[float], bound: float) -> float:
    """`P(|Z_k| <= bound` at all looks`)` at amounts of information that rise from look to look."""
    times = np.asarray(information, dtype=np.float64)
    if times.size == 0 or times[0] <= 0.0 or (np.diff(times) <= 0.0).any():
        raise ValueError("information must be positive and rise from look to look")
    # Gauss-Legendre points of the score process B(t), which must stay within bound * sqrt(t).
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    edge = bound * np.sqrt(times[0])
    points, mass = edge * nodes, edge * weights
    mass = mass * _density(points, float(np.sqrt(times[0])))
    for before, now in itertools.pairwise(times.tolist()):
        edge = bound * np.sqrt(now)
        moved = edge * nodes
        density = _density(moved[:, None] - points, float(np.sqrt(now - before))) @ mass
        points, mass = moved, edge * weights * density
    return float(mass.sum())


def _density(values: FloatArray, deviation: float) -> FloatArray:
    return np.asarray(_NORMAL / deviation * np.exp(-0.5 * (values / deviation) ** 2))


def repeated_level(information: Sequence[float], level: float = LEVEL) -> float:
    """The level of each look's interval so that all of them hold together with `level`.

    0.95 for one look, 0.9841 for five of equal size.
    """
    bound = brentq(lambda c: probability_within(information, c) - level, 0.5, 10.0, xtol=1e-9)
    return float(2.0 * stats.norm.cdf(bound) - 1.0)
