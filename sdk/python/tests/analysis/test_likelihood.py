"""Intervals of maximum likelihood."""

import numpy as np
import pytest
from scipy import stats

from agon.analysis.likelihood import (
    cluster_bootstrap,
    expanded_level,
    percentile_interval,
    profile_interval,
)
from agon.analysis.results import Estimate


def test_a_normal_profile_has_the_interval_of_z():
    low, high = profile_interval(lambda x: -0.5 * (x - 2.0) ** 2, 2.0, 0.0, (-50.0, 50.0), 0.1)
    assert (low, high) == pytest.approx((2 - 1.96, 2 + 1.96), abs=0.01)


def test_a_binomial_profile_has_the_interval_of_the_likelihood_ratio():
    # Both ends satisfy 2 (l(0.3) - l(p)) = 3.84.
    def log_likelihood(share):
        return float(stats.binom.logpmf(30, 100, share))

    ends = profile_interval(log_likelihood, 0.3, log_likelihood(0.3), (0.0, 1.0), 0.05)
    for end in ends:
        drop = 2 * (log_likelihood(0.3) - log_likelihood(end))
        assert drop == pytest.approx(stats.chi2.ppf(0.95, 1), rel=0.02)
    assert ends[0] < 0.3 < ends[1]


def test_a_parameter_that_data_do_not_bound_ends_at_its_bound():
    assert profile_interval(lambda x: -np.exp(-x), 3.0, 0.0, (0.0, 5.0), 0.5)[1] == 5.0
    assert profile_interval(lambda x: -np.exp(-x), 3.0, 0.0, (0.0, np.inf), 0.5)[1] == np.inf


def test_clusters_are_resampled_whole():
    generator = np.random.default_rng(1)
    values = np.repeat(generator.normal(size=60), 5)
    clusters = np.repeat(np.arange(60), 5).tolist()

    def fit(places):
        return [Estimate("mean", float(values[places].mean()), np.nan, np.nan)]

    (found,) = cluster_bootstrap(fit, clusters, draws=1500)
    # Five copies of sixty values know as much as the sixty values.
    expected = 2 * 1.96 * values[::5].std() / np.sqrt(60)
    assert found.width == pytest.approx(expected, rel=0.1)


def test_undefined_draws_are_left_out():
    draws = np.array([np.nan, *np.linspace(0.0, 1.0, 101)])
    assert percentile_interval(draws) == pytest.approx((0.025, 0.975))


def test_expanded_percentiles_of_a_mean_are_students_interval():
    # The bootstrap mean of n values spreads by s sqrt((n - 1) / n) / sqrt(n), nearly normally.
    values = np.random.default_rng(2).normal(size=12)
    spread = values.std(ddof=0) / np.sqrt(12)
    level = expanded_level(12)
    found = stats.norm.interval(level, loc=values.mean(), scale=spread)
    expected = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert found == pytest.approx(expected)
    assert expanded_level(10**7) == pytest.approx(0.95, abs=1e-5)
