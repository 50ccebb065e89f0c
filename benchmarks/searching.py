"""How good what `howdah tune` finds is, on surfaces whose best combination is known."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os

import numpy as np

from howdah.engine.experiment.confirmation import MOST_BLOCKS
from howdah.stats.search import Search

SEEDS = int(os.environ.get("SEEDS", "200"))
LEVELS, CV = (4,) * 5, 0.05
MOST = 256
RUNS = MOST - 3 * MOST_BLOCKS
"""Of the search, so that with the longest confirmation against two configurations there are no more than `MOST`."""
GOOD = math.log(1.03)


def surface(seed: int) -> dict[tuple[int, ...], float]:
    """The logarithm of every combination's time ÷ the best's: a bowl for each factor, slopes for each pair, and two low
    places far from each other, of which the deeper one has the best combination or nearly so."""
    draw = np.random.default_rng(seed)
    grid = np.array(list(itertools.product(*map(range, LEVELS))))
    values = np.zeros(len(grid))
    for at in range(len(LEVELS)):
        middle = draw.uniform(0, 3)
        values += draw.uniform(0.01, 0.06) * (grid[:, at] - middle) ** 2
    for one, other in itertools.combinations(range(len(LEVELS)), 2):
        values += 0.03 * draw.standard_normal() * (grid[:, one] - 1.5) * (grid[:, other] - 1.5)
    low = draw.integers(0, 4, len(LEVELS))
    far = np.where(np.abs(3 - 2 * low) < 2, (low + 2) % 4, 3 - low)
    for place, depth in ((low, 0.35), (far, 0.30)):
        values -= depth * np.exp(-np.sum((grid - place) ** 2, axis=1) / 3)
    values -= values.min()
    return {tuple(map(int, row)): float(value) for row, value in zip(grid, values, strict=True)}


def found(seed: int) -> float:
    """The logarithm of what a search finds ÷ the best."""
    truth = surface(seed)
    noise = np.random.default_rng((seed, 1))
    search = Search(LEVELS, RUNS, seed, [(0,) * len(LEVELS)])
    points: list[tuple[int, ...]] = []
    values: list[float] = []
    for _ in range(RUNS):
        points.append(search.next(points, values))
        values.append(truth[points[-1]] + math.sqrt(math.log1p(CV**2)) * float(noise.standard_normal()))
    return truth[search.best(points, values)]


def measure() -> list[str]:
    """Shares of the seeds in which what is found is close to the best."""
    with multiprocessing.Pool() as pool:
        losses = sorted(pool.imap_unordered(found, range(SEEDS)))
    best, good = sum(loss == 0.0 for loss in losses), sum(loss <= GOOD for loss in losses)
    return [
        f"{SEEDS} surfaces of {len(LEVELS)} factors with {LEVELS[0]} levels, CV {CV:.0%}, {RUNS} runs of the search, "
        f"at most {MOST} with the confirmation:",
        f"the very best {best / SEEDS:.1%}; within 3 % of it {good / SEEDS:.1%}; "
        f"mean {math.expm1(sum(losses) / SEEDS):.2%} above it, worst {math.expm1(losses[-1]):.1%}",
    ]
