"""Defects of what numbers are said to show."""

from __future__ import annotations

from tests.defects.defect import Defect

_COMPARE, _BLOCKS = "src/howdah/stats/compare.py", "src/howdah/stats/blocks.py"

DEFECTS = (
    Defect(
        name="contenders-at-full-level",
        promise="Of several contenders, all intervals together hold in 95 % of cases.",
        file=_COMPARE,
        old="level = LEVEL / of",
        new="level = LEVEL",
        tests=("tests/unit/report/comparison/test_many.py::test_each_contender_has_a_part_of_the_level",),
    ),
    Defect(
        name="interval-too-narrow",
        promise="The interval of a comparison covers the ratio in 95 of 100 experiments.",
        file=_COMPARE,
        old="half = math.hypot(t_quantile(1 - level / 2, freedom)",
        new="half = math.hypot(t_quantile(1 - level, freedom)",
        tests=("tests/unit/stats/test_compare.py::test_the_interval_is_welchs_on_logarithms",),
    ),
    Defect(
        name="three-runs-declared",
        promise="Three runs against three are not enough data, however far apart they are.",
        file=_COMPARE,
        old="if lowest >= level or interval is None:",
        new="if interval is None:",
        tests=("tests/unit/stats/test_compare.py::test_three_against_three_is_not_enough_however_far_apart",),
    ),
    Defect(
        name="rank-test-ignored",
        promise="A difference is declared only where the interval and the exact rank test agree.",
        file=_COMPARE,
        old="if interval.low <= 1 <= interval.high or p >= level:",
        new="if interval.low <= 1 <= interval.high:",
        tests=(
            "tests/unit/stats/test_compare.py"
            "::test_an_interval_without_one_is_not_declared_when_the_rank_test_disagrees",
        ),
    ),
    Defect(
        name="higher-is-called-slower",
        promise="The verdict follows the direction in which the metric is better.",
        file=_COMPARE,
        old='return "faster" if (log_ratio < 0) == (better == "lower") else "slower"',
        new='return "faster" if log_ratio < 0 else "slower"',
        tests=("tests/unit/stats/test_compare.py::test_the_verdict_follows_the_better_direction",),
    ),
    Defect(
        name="family-not-adjusted",
        promise="The probability of an effect is adjusted for all effects of the experiment (Holm).",
        file=_BLOCKS,
        old="(len(ps) - rank) * ps[at]",
        new="ps[at]",
        tests=("tests/unit/stats/test_blocks.py::test_holm",),
    ),
    Defect(
        name="noise-judged-when-it-looks-small",
        promise="The noise of an experiment is judged by all runs and by the first blocks; the less certain holds.",
        file=_BLOCKS,
        old="ps.append(max(two_sided_p(",
        new="ps.append(min(two_sided_p(",
        tests=(
            "tests/unit/stats/test_blocks.py"
            "::test_what_the_first_blocks_say_of_the_noise_holds_where_it_is_less_certain",
        ),
    ),
    Defect(
        name="experiment-ends-early",
        promise="An experiment goes on until every effect is known as well as its stopping rule asks.",
        file=_BLOCKS,
        old="bool(found) and all(",
        new="bool(found) and any(",
        tests=("tests/unit/stats/test_blocks.py::test_it_stops_when_every_effect_is_known_well_enough",),
    ),
    Defect(
        name="drift-hidden-by-arms",
        promise="A drift over an experiment is tested with a mean of its own for each arm.",
        file="src/howdah/stats/order.py",
        old="freedom = len(values) - len(set(arms)) - 1",
        new="freedom = len(values) - 2",
        tests=("tests/unit/stats/test_order.py::test_it_is_least_squares_with_a_mean_for_each_arm",),
    ),
    Defect(
        name="too-few-runs-recommended",
        promise="A comparison says how many runs would show a difference of 5 % four times out of five.",
        file="src/howdah/stats/power.py",
        old="factor = t_quantile(1 - level / 2, freedom) + t_quantile(POWER, freedom)",
        new="factor = t_quantile(1 - level / 2, freedom)",
        tests=("tests/unit/stats/test_power.py::test_the_detectable_difference_is_found_four_times_out_of_five",),
    ),
    Defect(
        name="same-order-in-every-block",
        promise="The order of the arms is drawn for each block from the recorded seed.",
        file="src/howdah/stats/design.py",
        old='random.Random(f"{seed}-{block}").shuffle(order)',
        new='random.Random(f"{seed}").shuffle(order)',
        tests=("tests/unit/stats/test_design.py::test_the_order_depends_on_the_seed_and_differs_between_blocks",),
    ),
)
