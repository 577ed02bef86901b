"""Mixtures of types with one parameter of noise, by maximum likelihood.

Observation i has probability `sum_k w_k P_ik(s)`: type k has share `w_k`, and `s` is the noise that
all types share. The level-k models and the estimation of strategy frequencies are such mixtures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from agon.analysis.likelihood import profile_interval
from agon.analysis.optimise import minimize
from agon.analysis.results import LEVEL, Estimate, FloatArray

Components = Callable[[float], FloatArray]
"""Log-probabilities by observation (rows) and type (columns), given the noise."""

_TINY = 1e-300
_SMALLEST_SHARE = 1e-9
_GRADIENT_STEP = 1e-5


@dataclass(frozen=True)
class Mixture:
    """A fitted mixture: shares in the order of the types, the noise and the log-likelihood."""

    shares: FloatArray
    noise: float
    log_likelihood: float


def mixture_log_likelihood(logs: FloatArray, counts: FloatArray, shares: FloatArray) -> float:
    """`sum_i c_i log sum_k w_k P_ik` from log-probabilities."""
    largest = logs.max(axis=1, keepdims=True)
    mixed = np.exp(logs - largest) @ shares
    return float(counts @ (np.log(np.maximum(mixed, _TINY)) + largest[:, 0]))


def em_shares(logs: FloatArray, counts: FloatArray, start: FloatArray, steps: int) -> FloatArray:
    """Shares after some steps of expectation maximisation with the noise fixed."""
    largest = logs.max(axis=1, keepdims=True)
    probabilities = np.exp(logs - largest)
    shares = start
    for _ in range(steps):
        joint = probabilities * shares
        posterior = joint / np.maximum(joint.sum(axis=1, keepdims=True), _TINY)
        shares = counts @ posterior
        shares = shares / shares.sum()
    return shares


class MixtureProblem:
    """One data set, ready to be fitted with or without a parameter fixed.

    `noises` are the smallest and largest noise; it is searched on a logarithmic scale.
    """

    def __init__(
        self, components: Components, counts: FloatArray, types: int, noises: tuple[float, float]
    ) -> None:
        self._components = components
        self._counts = counts
        self._types = types
        self._log_noises = (float(np.log(noises[0])), float(np.log(noises[1])))
        self._total = float(counts.sum())

    def fit(self) -> Mixture:
        """The most likely shares and noise, from several starting values of the noise."""
        even = np.full(self._types, 1.0 / self._types)
        starts: list[tuple[float, FloatArray, float]] = []
        for log_noise in np.linspace(*self._log_noises, 12):
            logs = self._components(float(np.exp(log_noise)))
            shares = em_shares(logs, self._counts, even, 25)
            value = mixture_log_likelihood(logs, self._counts, shares)
            starts.append((value, shares, float(log_noise)))
        starts.sort(key=lambda start: -start[0])
        fits = [self._climb(shares, noise) for _, shares, noise in starts[:2]]
        return max(fits, key=lambda fit: fit.log_likelihood)

    def estimates(
        self, best: Mixture, names: list[str], noise: str, level: float = LEVEL
    ) -> tuple[list[Estimate], Estimate]:
        """Profile-likelihood intervals of all shares, and of the noise."""
        shares = [
            self._share_estimate(best, place, names[place], level) for place in range(len(names))
        ]
        return shares, self._noise_estimate(best, noise, level)

    def _share_estimate(self, best: Mixture, place: int, name: str, level: float) -> Estimate:
        warm = [best]

        def profile(value: float) -> float:
            fit = self._climb(
                _with_share(warm[0].shares, place, value), np.log(warm[0].noise), place
            )
            return fit.log_likelihood

        value = float(best.shares[place])
        step = max(0.5 * float(np.sqrt(value * (1.0 - value) / self._total)), 1.0 / self._total)
        low, high = profile_interval(profile, value, best.log_likelihood, (0.0, 1.0), step, level)
        return Estimate(name, value, low, high)

    def _noise_estimate(self, best: Mixture, name: str, level: float) -> Estimate:
        def profile(log_noise: float) -> float:
            fit = self._climb(best.shares, log_noise, fixed_noise=True)
            return fit.log_likelihood

        low, high = profile_interval(
            profile, float(np.log(best.noise)), best.log_likelihood, self._log_noises, 0.05, level
        )
        return Estimate(name, best.noise, float(np.exp(low)), float(np.exp(high)))

    def _climb(
        self,
        shares: FloatArray,
        log_noise: float,
        fixed_share: int | None = None,
        fixed_noise: bool = False,
    ) -> Mixture:
        """The nearest maximum, with one share or the noise held where it starts."""
        bounds: list[tuple[float, float]] = [(0.0, 1.0)] * self._types
        if fixed_share is not None:
            held = float(shares[fixed_share])
            bounds[fixed_share] = (held, held)
        bounds.append((log_noise, log_noise) if fixed_noise else self._log_noises)

        def objective(point: FloatArray) -> tuple[float, FloatArray]:
            logs = self._components(float(np.exp(point[-1])))
            weights = point[:-1]
            largest = logs.max(axis=1, keepdims=True)
            probabilities = np.exp(logs - largest)
            mixed = np.maximum(probabilities @ weights, _TINY)
            value = self._counts @ (np.log(mixed) + largest[:, 0])
            slope = np.empty_like(point)
            slope[:-1] = (self._counts / mixed) @ probabilities
            slope[-1] = 0.0 if fixed_noise else self._noise_slope(point)
            return -float(value) / self._total, -slope / self._total

        ones = np.append(np.ones(self._types), 0.0)
        outcome = minimize(
            objective,
            np.append(np.clip(shares, _SMALLEST_SHARE, 1.0), log_noise),
            jac=True,
            method="SLSQP",
            bounds=bounds,
            constraints=[
                {"type": "eq", "fun": lambda x: x[:-1].sum() - 1.0, "jac": lambda x: ones}
            ],
            options={"maxiter": 200, "ftol": 1e-11},
        )
        found = np.clip(outcome.x[:-1], 0.0, 1.0)
        found = found / found.sum()
        noise = float(np.exp(outcome.x[-1]))
        value = mixture_log_likelihood(self._components(noise), self._counts, found)
        return Mixture(found, noise, value)

    def _noise_slope(self, point: FloatArray) -> float:
        ends = []
        for sign in (1.0, -1.0):
            logs = self._components(float(np.exp(point[-1] + sign * _GRADIENT_STEP)))
            ends.append(mixture_log_likelihood(logs, self._counts, point[:-1]))
        return (ends[0] - ends[1]) / (2.0 * _GRADIENT_STEP)


def _with_share(shares: FloatArray, place: int, value: float) -> FloatArray:
    """The shares with one of them changed and the others scaled to fill the rest."""
    rest = np.delete(shares, place)
    total = float(rest.sum())
    scaled = (
        rest * ((1.0 - value) / total)
        if total > 0.0
        else np.full_like(rest, (1.0 - value) / rest.size)
    )
    return np.insert(scaled, place, value)


def poisson_shares(mean: float, levels: int) -> FloatArray:
    """Poisson frequencies of levels 0 to `levels - 1`, scaled to sum to 1."""
    if mean <= 0.0:
        return np.asarray(np.eye(levels)[0])
    counts = np.arange(levels)
    # Scaled by the largest term, so that no factorial overflows.
    logs = counts * np.log(mean) - special.gammaln(counts + 1.0)
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum(), dtype=np.float64)
