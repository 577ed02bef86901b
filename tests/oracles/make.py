"""Makes check vectors of Agon's statistics with the packages that the field uses.

    python3 -m venv venv && venv/bin/pip install -r tests/oracles/requirements.txt
    venv/bin/python tests/oracles/make.py

Each file names its packages with their versions and a tolerance; a case holds what was given and
what the packages made of it. Inputs come from a generator with a fixed seed.
"""

import json
from importlib.metadata import version
from itertools import permutations
from math import factorial
from pathlib import Path

import choix
import krippendorff
import numpy as np
import statsmodels.api as sm
from arch.bootstrap import IIDBootstrap
from rliable import metrics
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

RANDOM = np.random.default_rng(20261123)

# Agon's penalty of strengths.
PENALTY = 0.05


def write(name, packages, tolerance, cases):
    source = ", ".join(f"{package} {version(package)}" for package in packages)
    file = {"source": source, "tolerance": tolerance, "cases": cases}
    path = Path(__file__).with_name(name)
    path.write_text(json.dumps(file, indent=1) + "\n")
    print(f"{name}: {len(cases)} cases")


def samples():
    """Sets of numbers of several sizes and forms."""
    for size in [2, 3, 5, 10, 30, 100]:
        yield RANDOM.normal(50, 10, size).round(3)
        yield RANDOM.exponential(3, size).round(3)
        yield np.minimum(RANDOM.normal(90, 15, size), 100).round(3)


def skewed_interval(groups):
    """Hall's transformation of Welch's t, its ends found by searching for them."""
    means = [np.mean(group) for group in groups]
    squares = [np.var(group, ddof=1) / len(group) for group in groups]
    freedom = sum(squares) ** 2 / sum(
        square**2 / (len(group) - 1) for square, group in zip(squares, groups)
    )
    third = sum(
        np.sum((group - np.mean(group)) ** 3) / (len(group) * (len(group) - 1) ** 2)
        for group in groups
    )
    skewness = third / sum(squares) ** 1.5
    error = np.sqrt(sum(squares)) / len(groups)

    def transformed(x):
        return x + skewness * x**2 / 3 + skewness**2 * x**3 / 27 + skewness / 6

    t = stats.t.ppf(0.975, freedom)
    reach = 1e6
    ends = [
        np.mean(means) - error * optimize.brentq(lambda x: transformed(x) - aim, -reach, reach)
        for aim in (t, -t)
    ]
    return [float(end) for end in ends]


def means():
    cases = [{"groups": [list(sample)], "interval": skewed_interval([sample])} for sample in samples()]
    for _ in range(8):
        groups = [RANDOM.exponential(RANDOM.uniform(1, 9), RANDOM.integers(2, 12)).round(3) for _ in range(8)]
        cases.append({"groups": [list(group) for group in groups], "interval": skewed_interval(groups)})
    # Without skewness it is Student's interval.
    for size in [2, 5, 20]:
        sample = np.arange(size, dtype=float)
        low, high = stats.t.interval(0.95, size - 1, sample.mean(), stats.sem(sample))
        cases.append({"groups": [list(sample)], "interval": [float(low), float(high)]})
    write("mean_intervals.json", ["scipy", "numpy"], 1e-5, cases)


def rates():
    cases = []
    for n in [1, 5, 10, 30, 100, 10_000]:
        for successes in sorted({0, 1, n // 3, n - 1, n}):
            low, high = proportion_confint(successes, n, method="wilson")
            cases.append({"successes": successes, "n": n, "interval": [float(low), float(high)]})
    write("rates.json", ["statsmodels"], 1e-9, cases)


def clustered():
    cases = []
    for clusters in [2, 5, 30]:
        groups = [RANDOM.normal(RANDOM.normal(), 1, RANDOM.integers(1, 15)).round(3) for _ in range(clusters)]
        numbers = np.concatenate(groups)
        names = np.repeat(np.arange(clusters), [len(group) for group in groups])
        # Clusters' correction k / (k - 1); numbers' is (N - 1) / (N - 1) for a single mean.
        fit = sm.OLS(numbers, np.ones_like(numbers)).fit(cov_type="cluster", cov_kwds={"groups": names})
        sums = [[float(group.sum()), float(len(group))] for group in groups]
        cases.append({"clusters": sums, "mean": float(fit.params[0]), "error": float(fit.bse[0])})
    write("clustered.json", ["statsmodels"], 1e-9, cases)


def effect_interval(t, freedom, n):
    """Noncentralities under which t has 2.5 % below or above it."""

    def end(share, step):
        off = lambda noncentrality: stats.nct.cdf(t, freedom, noncentrality) - share
        edge = t
        while off(edge) * step > 0:
            edge += step
        return optimize.brentq(off, *sorted([edge, edge - step]))

    return [float(end(share, step) / np.sqrt(n)) for share, step in [(0.975, -0.5), (0.025, 0.5)]]


def effects():
    cases = []
    for size in [3, 5, 10, 40, 200]:
        for shift in [0.0, 0.6, -2.0]:
            a = RANDOM.normal(shift, 1, size).round(4)
            b = RANDOM.normal(0, 1, size).round(4)
            d = (a - b).mean() / (a - b).std(ddof=1)
            statistic = stats.mannwhitneyu(a, b).statistic
            cases.append(
                {
                    "a": list(a),
                    "b": list(b),
                    "size": float(d),
                    "interval": effect_interval(d * np.sqrt(size), size - 1, size),
                    "superiority": float(statistic / size**2),
                    "paired_t": float(stats.ttest_rel(a, b).pvalue),
                }
            )
    write("effects.json", ["scipy"], 1e-6, cases)


def powers():
    test, cases = TTestPower(), []
    for n in [3, 5, 10, 20, 100, 1000]:
        edge = 0.01
        while test.power(edge, n, 0.05) < 0.8:
            edge *= 1.1
        detectable = optimize.brentq(lambda size: test.power(size, n, 0.05) - 0.8, edge / 1.1, edge)
        # Farther out scipy's noncentral t is not a number.
        for size in np.array([0.5, 2.0, 4.0]) / np.sqrt(n):
            power = test.power(size, n, 0.05)
            cases.append({"n": n, "size": float(size), "power": float(power), "detectable": float(detectable)})
    write("powers.json", ["statsmodels"], 1e-4, cases)


def adjusted():
    cases = []
    for size in [1, 2, 5, 20]:
        p = RANDOM.uniform(0, 0.2, size).round(4)
        cases.append({"p": list(p), "holm": list(multipletests(p, method="holm")[1])})
    write("holm.json", ["statsmodels"], 1e-12, cases)


def ranks():
    cases = []
    for size in [600, 2000]:
        for shift in [0.0, 1.0]:
            differences = RANDOM.integers(-40, 42, size) + shift
            result = stats.wilcoxon(differences, method="asymptotic", correction=False)
            cases.append({"differences": list(differences), "w": float(result.statistic), "p": float(result.pvalue)})
    write("wilcoxon_many.json", ["scipy"], 1e-9, cases)


def session(players, made):
    return [[int(player), float(number)] for player, number in zip(players, made)]


def strengths():
    cases = []
    for players, sessions in [(2, 12), (4, 30), (8, 60)]:
        true = RANDOM.normal(0, 1, players)
        given, pairs, orders = [], [], []
        for _ in range(sessions):
            sits = RANDOM.choice(players, RANDOM.integers(2, min(players, 5) + 1), replace=False)
            # Rounded, so that some come level.
            made = (true[sits] + RANDOM.gumbel(size=len(sits))).round()
            given.append(session(sits, made))
            # Everything twice, so that level players can have one each; likewise all orders of them.
            for place, one in enumerate(sits):
                for seat in range(place + 1, len(sits)):
                    other = sits[seat]
                    if made[place] == made[seat]:
                        pairs += [(one, other), (other, one)]
                    elif made[place] > made[seat]:
                        pairs += 2 * [(one, other)]
                    else:
                        pairs += 2 * [(other, one)]
            levels = [list(sits[made == number]) for number in sorted(set(made), reverse=True)]
            possible = [[]]
            for level in levels:
                possible = [before + list(order) for before in possible for order in permutations(level)]
            orders += (factorial(5) // len(possible)) * possible if factorial(5) % len(possible) == 0 else []
            assert factorial(5) % len(possible) == 0
        cases.append(
            {
                "players": players,
                "sessions": given,
                "bradley_terry": list(choix.opt_pairwise(players, pairs, alpha=2 * PENALTY, tol=1e-10)),
                "plackett_luce": list(
                    choix.opt_rankings(players, orders, alpha=factorial(5) * PENALTY, tol=1e-10)
                ),
            }
        )
    write("strengths.json", ["choix"], 1e-4, cases)


def aggregates():
    cases = []
    for runs, games in [(4, 1), (8, 3), (20, 8)]:
        scores = RANDOM.uniform(0, 100, (runs, games)).round(3)
        others = RANDOM.uniform(0, 110, (runs, games)).round(3)
        thresholds = [10.0, 35.5, 80.0]
        profile = [float(np.mean(scores > threshold)) for threshold in thresholds]
        cases.append(
            {
                "games": scores.T.tolist(),
                "others": others.T.tolist(),
                "interquartile_mean": float(metrics.aggregate_iqm(scores)),
                "superiority": float(metrics.probability_of_improvement(scores, others)),
                "thresholds": thresholds,
                "profile": profile,
            }
        )
    write("aggregates.json", ["rliable"], 1e-9, cases)


def bootstraps():
    """Percentile intervals of means from many more draws than Agon's: its own differ by their chance."""
    cases = []
    for size in [10, 40]:
        sample = RANDOM.exponential(10, size).round(3)
        interval = IIDBootstrap(sample, seed=RANDOM).conf_int(np.mean, 50_000, method="percentile")
        cases.append({"numbers": list(sample), "interval": [float(end) for end in interval[:, 0]]})
    write("bootstraps.json", ["arch"], 0.4, cases)


def agreements():
    """Krippendorff's alpha of marks with gaps, some records marked once or never."""
    random = np.random.default_rng(20261126)
    cases = []
    for judges, records, highest in [(2, 5, 5), (5, 12, 5), (5, 30, 5), (7, 20, 10), (3, 40, 3)]:
        truth = random.integers(1, highest + 1, records)
        marks = np.clip(truth + random.integers(-1, 2, (judges, records)), 1, highest).astype(float)
        marks[random.random((judges, records)) < 0.2] = np.nan
        cases.append(
            {
                "records": [[mark for mark in column if mark == mark] for column in marks.T.tolist()],
                "ordinal": float(krippendorff.alpha(marks, level_of_measurement="ordinal")),
                "interval": float(krippendorff.alpha(marks, level_of_measurement="interval")),
            }
        )
    write("agreements.json", ["krippendorff"], 1e-9, cases)


for make in [means, rates, clustered, effects, powers, adjusted, ranks, strengths, aggregates, bootstraps, agreements]:
    make()
