"""The experiment file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import yaml

from howdah.errors import UsageError
from howdah.model.experiment import Design, Experiment, Factor, Rate, StopRule
from howdah.spec.document import Value, parse_document, read_document
from howdah.spec.meters import meters_of
from howdah.spec.slips import did_you_mean

_KEYS = (
    "question",
    "workload",
    "cluster",
    "baseline",
    "factors",
    "design",
    "primary",
    "stop",
    "seed",
    "configurations",
    "starts",
    "rates",
    "meters",
    "warmup",
    "confirm",
)
_NEEDED = ("question", "workload", "factors")
_CLUSTER = ("nodes", "on", "hadoop")
_EXTERNAL = ("external", "change", "check")
_PLACES = ("block", "place", "arm")
_RATES = ("watts", "price")
_STOP = ("half_width", "min", "max", "budget", "limit")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def read_experiment(file: Path) -> Experiment:
    """Return the experiment in `file`. Raises UsageError with the line of a mistake."""
    return _experiment(read_document(file, "an experiment"))


def parse_experiment(content: str) -> Experiment:
    """Return the experiment in `content`, which is in no file known to the user. Raises UsageError for a mistake."""
    return _experiment(parse_document(content, "an experiment"))


def _experiment(document: Value) -> Experiment:
    given = document.mapping(_KEYS)
    for key in _NEEDED:
        if key not in given:
            raise document.problem(f"an experiment needs the key {key!r}")
    workload, options = _workload(given["workload"])
    baseline = _texts(given.get("baseline"))
    factors = _factors(given["factors"], baseline)
    rates = given["rates"].mapping(_RATES) if "rates" in given else {}
    return Experiment(
        question=given["question"].text(),
        workload=workload,
        options=options,
        cluster=_texts(given.get("cluster"), _CLUSTER),
        baseline=baseline,
        factors=factors,
        design=_design(given.get("design")),
        primary=given["primary"].text() if "primary" in given else None,
        stop=_stop(given.get("stop")),
        seed=_whole(given["seed"], 0) if "seed" in given else 1,
        configurations=_configurations(given.get("configurations")),
        starts=_starts(given["starts"], factors) if "starts" in given else (),
        meters=_meters(given["meters"]) if "meters" in given else None,
        warmup=_whole(given["warmup"], 0) if "warmup" in given else 0,
        confirm=_confirm(given["confirm"]) if "confirm" in given else True,
        places=_places(given),
        **{name: _rate(value, factors) for name, value in rates.items()},
    )


def _confirm(value: Value) -> bool:
    if value.text() not in ("yes", "no"):
        raise value.problem(f"confirm is {value.text()!r}: write yes or no")
    return value.text() == "yes"


def _meters(value: Value) -> str:
    """Return kinds, or the absolute path of a file of meters: the experiment may continue from another directory."""
    given = value.text()
    try:
        meters_of(given)
    except UsageError as error:
        raise value.problem(error.message, hint=error.hint) from None
    return str(Path(given).absolute()) if Path(given).exists() else given


def _places(given: Mapping[str, Value]) -> dict[str, str]:
    """Return the places of all names that only a plan can judge; empty if there is no file.

    The place of a factor is that of its levels.
    """
    nested = [given[key] for key in ("cluster", "baseline", "factors") if key in given]
    nested += given["configurations"].mapping().values() if "configurations" in given else ()
    nested += () if given["workload"].is_text() else given["workload"].mapping().values()
    named = (item for part in (given, *(one.mapping() for one in nested)) for item in part.items())
    return {name: value.place for name, value in named if value.place is not None}


@contextmanager
def located(experiment: Experiment, *names: str) -> Iterator[None]:
    """Give a UsageError about `experiment` the line of the name it mentions.

    The name is the one of `names` in the message, or the only one of `names`.
    """
    try:
        yield
    except UsageError as error:
        spoken_of = [name for name in names if name in error.message] or names
        places = {experiment.places[name] for name in spoken_of if name in experiment.places}
        if len(places) != 1:
            raise
        raise UsageError(f"{places.pop()}: {error.message}", hint=error.hint) from None


def write_experiment(experiment: Experiment) -> str:
    """Return a file from which `read_experiment` reads the same `experiment`."""
    stop = experiment.stop
    limits = {"budget": stop.budget_seconds, "limit": stop.limit_seconds}
    record = {
        "question": experiment.question,
        "workload": {experiment.workload: dict(experiment.options)} if experiment.options else experiment.workload,
        "cluster": dict(experiment.cluster),
        "baseline": {**experiment.baseline, **{one.name: one.levels[0] for one in experiment.factors}},
        "factors": {one.name: _written(one) for one in experiment.factors},
        "design": experiment.design,
        **({} if experiment.primary is None else {"primary": experiment.primary}),
        "stop": {
            "half_width": f"{100 * stop.half_width:.6g}%",
            "min": stop.least,
            "max": stop.most,
            **{name: _written_seconds(seconds) for name, seconds in limits.items() if seconds is not None},
        },
        "seed": experiment.seed,
        **({"configurations": named} if (named := _plain(experiment.configurations)) else {}),
        **({"starts": [dict(one) for one in experiment.starts]} if experiment.starts else {}),
        **({"rates": rates} if (rates := _written_rates(experiment)) else {}),
        **({} if experiment.meters is None else {"meters": experiment.meters}),
        **({"warmup": experiment.warmup} if experiment.warmup else {}),
        **({} if experiment.confirm else {"confirm": "no"}),
    }
    text: str = yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=1000)
    return text


def _written_seconds(seconds: float) -> str:
    return f"{f'{seconds:.3f}'.rstrip('0').rstrip('.')}s"


def _written_rates(experiment: Experiment) -> dict[str, Any]:
    known = {
        name: rate for name, rate in (("watts", experiment.watts), ("price", experiment.price)) if rate is not None
    }
    return {
        name: rate.of_levels[""] if rate.factor is None else {rate.factor: dict(rate.of_levels)}
        for name, rate in known.items()
    }


def _plain(configurations: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {name: dict(settings) for name, settings in configurations.items()}


def _written(factor: Factor) -> list[str] | dict[str, Any]:
    if not factor.external:
        return list(factor.levels)
    words = {"change": factor.change, "check": factor.check}
    return {"external": list(factor.levels), **{key: text for key, text in words.items() if text is not None}}


def _workload(value: Value) -> tuple[str, dict[str, str]]:
    """Return name and options of `terasort`, or of `{terasort: {size: 2G}}`."""
    if value.is_text():
        return value.text(), {}
    named = value.mapping()
    if len(named) != 1:
        raise value.problem("workload must name one workload: {terasort: {size: 1G}}")
    [(name, options)] = named.items()
    return name, _texts(options)


def _factors(value: Value, baseline: dict[str, str]) -> tuple[Factor, ...]:
    named = value.mapping()
    if not named:
        raise value.problem("an experiment needs at least one factor")
    factors = tuple(_factor(name, levels, baseline.get(name)) for name, levels in named.items())
    if all(len(one.levels) == 1 for one in factors):
        raise value.problem("an experiment needs a factor with two levels or more")
    return factors


def _factor(name: str, value: Value, baseline: str | None) -> Factor:
    """Return the factor of `[a, b]`, or of `{external: [a, b], change: TEXT, check: COMMAND}` for a change by hand."""
    if value.is_list() or value.is_text():
        return Factor(name, _several(name, value, baseline))
    given = value.mapping(_EXTERNAL)
    if "external" not in given:
        raise value.problem(f"{name} needs a list of levels: [a, b], or {{external: [a, b]}}")
    if name in _PLACES:
        raise value.problem(f"a factor that is changed by hand cannot be called {name}: runs have a label of that name")
    words = {key: given[key].text() if key in given else None for key in ("change", "check")}
    return Factor(name, _levels(name, given["external"], baseline), True, words["change"], words["check"])


def _levels(name: str, value: Value, baseline: str | None) -> tuple[str, ...]:
    levels = [level.text() for level in value.list()]
    twice = next((level for level in levels if levels.count(level) > 1), None)
    if twice is not None:
        raise value.problem(f"the level {twice} of {name} is there twice")
    if baseline is not None and baseline not in levels:
        raise value.problem(
            f"the baseline of {name} is {baseline}, which is none of its levels: {', '.join(levels)}",
            hint="Every level is compared with the baseline's.",
        )
    if not levels:
        raise value.problem(f"{name} needs a level")
    first = levels[0] if baseline is None else baseline
    return (first, *(level for level in levels if level != first))


def _several(name: str, value: Value, baseline: str | None) -> tuple[str, ...]:
    levels = _levels(name, value, baseline)
    if len(levels) < 2:
        raise value.problem(f"{name} needs two levels or more to vary")
    return levels


def _configurations(value: Value | None) -> dict[str, dict[str, str]]:
    """Return settings by the name of a level of the factor `configuration`; `tuned: {}` has none of its own."""
    return {} if value is None else {name: _texts(settings) for name, settings in value.mapping().items()}


def _starts(value: Value, factors: tuple[Factor, ...]) -> tuple[dict[str, str], ...]:
    levels = {factor.name: factor.levels for factor in factors}
    found = []
    for one in value.list():
        chosen = one.mapping(levels)
        for name, level in chosen.items():
            if level.text() not in levels[name]:
                raise level.problem(f"{level.text()} is no level of {name}: {', '.join(levels[name])}")
        found.append({name: level.text() for name, level in chosen.items()})
    return tuple(found)


def _rate(value: Value, factors: tuple[Factor, ...]) -> Rate:
    """Return the rate of `240`, or of `{nodes: {1: 80, 3: 240}}`, which depends on the level of one factor."""
    if value.is_text():
        return Rate(None, {"": _positive(value)})
    levels = {factor.name: factor.levels for factor in factors}
    given = value.mapping(levels)
    if len(given) != 1:
        raise value.problem("a rate is one number, or depends on one factor: {nodes: {1: 80, 3: 240}}")
    [(factor, of)] = given.items()
    rates = of.mapping(levels[factor])
    missing = [level for level in levels[factor] if level not in rates]
    if missing:
        raise of.problem(f"no rate for {factor} {missing[0]}")
    return Rate(factor, {level: _positive(rate) for level, rate in rates.items()})


def _positive(value: Value) -> float:
    text = value.text()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text, re.ASCII) is None or float(text) == 0:
        raise value.problem(f"{text!r} is no number above 0")
    return float(text)


def _design(value: Value | None) -> Design:
    known: dict[str, Design] = {name: name for name in get_args(Design)}
    if value is None:
        return "one-at-a-time"
    if value.text() not in known:
        raise value.problem(f"unknown design {value.text()!r}", hint=did_you_mean(value.text(), known))
    return known[value.text()]


def _stop(value: Value | None) -> StopRule:
    given = {} if value is None else value.mapping(_STOP)
    usual = StopRule()
    least = _whole(given["min"], 2) if "min" in given else usual.least
    most = _whole(given["max"], 2) if "max" in given else max(least, usual.most)
    if most < least:
        raise given["max"].problem(f"max is {most}, less than min, which is {least}")
    return StopRule(
        half_width=_read(given["half_width"], parse_share) if "half_width" in given else usual.half_width,
        least=least,
        most=most,
        budget_seconds=_read(given["budget"], parse_duration) if "budget" in given else None,
        limit_seconds=_read(given["limit"], parse_duration) if "limit" in given else None,
    )


def _texts(value: Value | None, known: tuple[str, ...] | None = None) -> dict[str, str]:
    return {} if value is None else {key: one.text() for key, one in value.mapping(known).items()}


def _whole(value: Value, least: int) -> int:
    text = value.text()
    if not text.isdecimal() or not text.isascii() or int(text) < least:
        raise value.problem(f"{text!r} is not a whole number of at least {least}")
    return int(text)


def _read(value: Value, parse: Callable[[str], float]) -> float:
    try:
        return parse(value.text())
    except UsageError as error:
        raise value.problem(error.message, hint=error.hint) from None


def parse_share(text: str) -> float:
    """Return a share: `5%` → 0.05. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)\s*%", text, re.ASCII)
    if match is None or not 0 < float(match[1]) < 100:
        raise UsageError(f"{text!r} is not a percentage between 0 % and 100 %", hint="Write 5%.")
    return float(match[1]) / 100


def parse_duration(text: str) -> float:
    """Return seconds: `90m` → 5400.0. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)\s*([smhd])", text, re.ASCII)
    if match is None or float(match[1]) == 0:
        raise UsageError(f"{text!r} is not a duration", hint="Write 90s, 30m, 6h or 2d.")
    return float(match[1]) * _SECONDS[match[2]]
