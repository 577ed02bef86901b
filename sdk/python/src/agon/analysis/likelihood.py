"""Intervals of maximum likelihood: profiles, and the bootstrap over independent clusters.

A profile interval holds the values that a likelihood-ratio test does not refuse:
`2 (max l - max l with the parameter fixed) <= chi-square quantile, one degree of freedom`
(Wilks 1938). It assumes independent observations. Where these come in clusters (sessions),
resample the clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy import stats

from agon.analysis.optimise import brentq
from agon.analysis.results import LEVEL, Estimate, FloatArray, IntArray

_ROOT_TOLERANCE = 1e-3
"""Precision of an end, as a share of its distance from the estimate."""

_MOST_DOUBLINGS = 60
"""Steps outwards before an interval without a bound counts as infinite."""


def profile_interval(
    profile: Callable[[float], float],
    estimate: float,
    maximum: float,
    bounds: tuple[float, float],
    step: float,
    level: float = LEVEL,
) -> tuple[float, float]:
    """The profile-likelihood interval of one parameter.

    `profile(value)` is the highest log-likelihood with the parameter at `value`; `maximum` that at
    the estimate. `bounds` limit the parameter; an end that the data do not refuse is the bound.
    `step` is the first distance at which an end is looked for.
    """
    drop = float(stats.chi2.ppf(level, 1)) / 2.0

    def excess(value: float) -> float:
        return maximum - profile(value) - drop

    def end(direction: float, bound: float) -> float:
        inside, distance = estimate, step
        for _ in range(_MOST_DOUBLINGS):
            outside = estimate + direction * distance
            if direction * (outside - bound) >= 0.0:
                if not np.isfinite(bound):
                    return bound
                if inside == bound or excess(bound) <= 0.0:
                    return bound
                outside = bound
            if excess(outside) > 0.0:
                tolerance = _ROOT_TOLERANCE * abs(outside - estimate)
                return float(brentq(excess, inside, outside, xtol=max(tolerance, 1e-12)))
            inside = outside
            distance *= 2.0
        return direction * np.inf

    return end(-1.0, bounds[0]), end(1.0, bounds[1])


def cluster_index(clusters: Sequence[Hashable]) -> IntArray:
    """Clusters numbered from 0 in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=np.int64)


def cluster_weights(clusters: IntArray, draws: int, generator: np.random.Generator) -> FloatArray:
    """How often each observation is drawn in each bootstrap sample of whole clusters.

    One row per sample, one column per observation (Cameron, Gelbach, Miller 2008, pairs bootstrap).
    """
    count = int(clusters.max()) + 1
    drawn = generator.multinomial(count, np.full(count, 1.0 / count), size=draws)
    return drawn[:, clusters].astype(np.float64)


def cluster_bootstrap(
    fit: Callable[[IntArray], Sequence[Estimate]],
    clusters: Sequence[Hashable],
    draws: int = 200,
    seed: int = 1,
    level: float = LEVEL,
) -> list[Estimate]:
    """Estimates of any fit with intervals over resampled sessions.

    `fit` takes places of observations, with repetitions, and returns estimates: such as
    `lambda places: fit_levels(choices[places]).shares`. `clusters` says for each observation what
    is independent of others. Use it where profile intervals would be too narrow, because choices of
    one session depend on each other.
    """
    index = cluster_index(clusters)
    generator = np.random.default_rng(seed)
    members = [np.flatnonzero(index == cluster) for cluster in range(int(index.max()) + 1)]
    drawn = []
    for _ in range(draws):
        taken = generator.integers(len(members), size=len(members))
        places = np.concatenate([members[cluster] for cluster in taken])
        drawn.append([estimate.value for estimate in fit(places)])
    expanded = expanded_level(len(members), level)
    ends = [percentile_interval(values, expanded) for values in np.array(drawn).T]
    best = fit(np.arange(index.size))
    return [
        Estimate(estimate.name, estimate.value, *end)
        for estimate, end in zip(best, ends, strict=True)
    ]


def expanded_level(units: int, level: float = LEVEL) -> float:
    """The level at which percentiles of a bootstrap of so many units hold `level` better.

    Bootstrap distributions are too narrow by `sqrt((n - 1) / n)`, and the percentiles take the
    normal quantile where Student's is due. Both are put right in the probability of the tails
    (Hesterberg 2015, expanded percentiles): 0.962 instead of 0.95 for 30 units.
    """
    if units < 2:
        return level
    quantile = stats.t.ppf((1.0 + level) / 2.0, units - 1) * np.sqrt(units / (units - 1))
    return float(2.0 * stats.norm.cdf(quantile) - 1.0)


def percentile_interval(draws: FloatArray, level: float = LEVEL) -> tuple[float, float]:
    """The middle `level` of bootstrap estimates; undefined ones (NaN) are left out."""
    known = draws[~np.isnan(draws)]
    if known.size == 0:
        return float("nan"), float("nan")
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(known, [tail, 1.0 - tail])
    return float(low), float(high)
