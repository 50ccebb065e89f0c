"""Hypothesis strategies for the values that a run directory keeps, and one plain example of each."""

from __future__ import annotations

from hypothesis import strategies as st

from howdah.model.environment import Environment
from howdah.model.job import Attempt, Job, Span
from howdah.model.metric import Metric
from howdah.model.run import Caveat, Check, Outcome, Phase, Run, Trial
from howdah.model.sample import Moment, Sample

WORD = st.text(min_size=1, max_size=6)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | st.integers() | NUMBER | WORD
OBJECT = st.dictionaries(WORD, PLAIN | st.dictionaries(WORD, PLAIN, max_size=2), max_size=3)
MOMENT = st.builds(Moment, NUMBER, NUMBER)


def some(strategy):
    return st.lists(strategy, max_size=2).map(tuple)


OUTCOME = st.one_of(
    st.builds(Outcome, st.sampled_from(["running", "valid"])),
    st.builds(Outcome, st.sampled_from(["invalid", "failed", "aborted"]), WORD),
)
METRIC = st.builds(Metric, WORD, WORD, st.sampled_from(["lower", "higher", "neither"]), WORD, WORD)
PHASE = st.builds(
    Phase,
    name=WORD,
    kind=st.sampled_from(["prepare", "run", "verify"]),
    start=MOMENT,
    end=st.none() | MOMENT,
    jobs=some(WORD),
    command=some(WORD),
    error=st.none() | WORD,
)
RUN = st.builds(
    Run,
    id=WORD,
    trial=st.builds(Trial, WORD, OBJECT),
    outcome=OUTCOME,
    start=MOMENT,
    end=st.none() | MOMENT,
    howdah=WORD,
    command=some(WORD),
    cluster=OBJECT,
    dataset=st.none() | OBJECT,
    primary=st.none() | WORD,
    phases=some(PHASE),
    checks=some(st.builds(Check, WORD, st.booleans(), WORD)),
    caveats=some(st.builds(Caveat, WORD, WORD)),
    metrics=some(METRIC),
    labels=st.dictionaries(WORD, WORD, max_size=2),
)
SAMPLE = st.builds(
    Sample,
    metric=WORD,
    value=NUMBER | st.integers(),
    unit=WORD,
    quality=st.sampled_from(["measured", "derived", "estimated", "simulated", "imported"]),
    source=WORD,
    host=WORD,
    role=WORD,
    phase=st.none() | WORD,
    moment=MOMENT,
)
ENVIRONMENT = st.builds(Environment, hosts=st.dictionaries(WORD, OBJECT, max_size=2), hadoop=OBJECT)
COUNTERS = st.dictionaries(WORD, st.dictionaries(WORD, st.integers(), max_size=2), max_size=2)
SPAN = st.builds(Span, NUMBER, NUMBER)
ATTEMPT = st.builds(
    Attempt,
    id=WORD.map("attempt_{}".format),
    task=WORD.map("task_{}".format),
    kind=st.sampled_from(["map", "reduce"]),
    state=WORD,
    node=st.none() | WORD,
    container=st.none() | WORD,
    whole=SPAN,
    steps=st.dictionaries(st.sampled_from(["map", "shuffle", "merge", "reduce"]), SPAN, max_size=3),
    counters=COUNTERS,
    error=st.none() | WORD,
)
COUNT = st.integers(0, 10**6)
JOB = st.builds(
    Job,
    id=WORD.map("job_{}".format),
    name=WORD,
    user=WORD,
    queue=WORD,
    state=WORD,
    submit=NUMBER,
    launch=st.none() | NUMBER,
    finish=NUMBER,
    maps=COUNT,
    reduces=COUNT,
    counters=COUNTERS,
    map_counters=COUNTERS,
    reduce_counters=COUNTERS,
    attempts=some(ATTEMPT),
    diagnostics=st.none() | WORD,
    uberized=st.booleans(),
)

START = Moment(1_760_000_000.0, 100.0)


def run(name: str = "20251009-085320-terasort-1", *, outcome: str = "valid", reason: str | None = None) -> Run:
    return Run(
        id=name,
        title="TeraSort",
        trial=Trial("terasort", {"size": 1_000_000_000, "nodes": 3}),
        outcome=Outcome(outcome, reason),  # type: ignore[arg-type]
        start=START,
        end=Moment(START.utc + 60, START.monotonic + 60),
        howdah="0.1.0",
        command=("howdah", "run", "terasort"),
        cluster={"nodes": 3},
    )


def sample(value: float = 12.5) -> Sample:
    return Sample("job_seconds", value, "s", "measured", "job history", "vm", "job", "sort", START)
