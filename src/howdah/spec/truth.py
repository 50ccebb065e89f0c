"""The file of a synthetic cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from howdah.errors import UsageError
from howdah.model.truth import MEASURED, Noise, Truth
from howdah.spec.document import Value, read_document
from howdah.spec.slips import did_you_mean

_KEYS = ("value", "effects", "together", "noise", "failing", "seed")
_NOISE = ("cv", "restart_cv", "autocorrelation", "drift", "drift_runs", "outliers", "outlier_ratio")


def read_truth(file: Path) -> Truth:
    """Return the synthetic cluster in `file`. Raises UsageError with the line of a mistake."""
    document = read_document(file, "a synthetic cluster")
    given = document.mapping(_KEYS)
    if "value" not in given:
        raise document.problem("a synthetic cluster needs the key 'value': the primary metric where nothing is set")
    effects = given["effects"].mapping() if "effects" in given else {}
    return Truth(
        value=_ratio(given["value"]),
        effects={factor: _ratios(levels) for factor, levels in effects.items()},
        together=tuple(_together(one) for one in given["together"].list()) if "together" in given else (),
        noise=_noise(given["noise"]) if "noise" in given else Noise(),
        failing=_share(given["failing"]) if "failing" in given else 0.0,
        seed=_count(given["seed"], 0) if "seed" in given else 1,
    )


def _ratios(value: Value) -> Mapping[str, float]:
    return {level: _ratio(ratio) for level, ratio in value.mapping().items()}


def _together(value: Value) -> tuple[Mapping[str, str], float]:
    """Return levels and ratio of `{levels: {a: 1, b: 2}, ratio: 0.8}`."""
    given = value.mapping(("levels", "ratio"))
    if len(given) != 2:
        raise value.problem("levels that do something together need both: {levels: {a: 1, b: 2}, ratio: 0.8}")
    return {factor: level.text() for factor, level in given["levels"].mapping().items()}, _ratio(given["ratio"])


def _noise(value: Value) -> Noise:
    """Return the noise of `{cv: 5%, drift: -2%}`, or the measured noise of that name."""
    if value.is_text():
        if value.text() not in MEASURED:
            hint = did_you_mean(value.text(), MEASURED)
            raise value.problem(f"no noise of {value.text()!r} was measured", hint=hint)
        return MEASURED[value.text()]
    given, usual = value.mapping(_NOISE), Noise()
    shares = {
        name: _share(given[name]) for name in ("cv", "restart_cv", "autocorrelation", "outliers") if name in given
    }
    return Noise(
        **shares,
        drift=_change(given["drift"]) if "drift" in given else usual.drift,
        drift_runs=_count(given["drift_runs"], 1) if "drift_runs" in given else usual.drift_runs,
        outlier_ratio=_ratio(given["outlier_ratio"]) if "outlier_ratio" in given else usual.outlier_ratio,
    )


def _number(value: Value, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise value.problem(f"{value.text()!r} is not a number") from None


def _ratio(value: Value) -> float:
    number = _number(value, value.text())
    if not 0 < number < 1e12:
        raise value.problem(f"{value.text()!r} is not a number above 0")
    return number


def _share(value: Value) -> float:
    """Return the share of `5%`, or of 0.05."""
    number = _part(value)
    if not 0 <= number < 1:
        raise value.problem(f"{value.text()!r} is not a share between 0 and 100 %")
    return number


def _change(value: Value) -> float:
    """Return the change of `5%`, or of -0.05."""
    number = _part(value)
    if not -1 < number < 1:
        raise value.problem(f"{value.text()!r} is not a change between -100 % and 100 %")
    return number


def _part(value: Value) -> float:
    text = value.text().strip()
    return _number(value, text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def _count(value: Value, least: int) -> int:
    text = value.text()
    if not text.isdecimal() or not text.isascii() or int(text) < least:
        raise value.problem(f"{text!r} is not a whole number of at least {least}")
    return int(text)


def check_known(truth: Truth, file: Path, settings: Mapping[str, str]) -> None:
    """Raise UsageError for a setting that the file does not have."""
    for factor, level in settings.items():
        levels = truth.effects.get(factor)
        if levels is None:
            raise UsageError(f"{file} says nothing of {factor}", hint=did_you_mean(factor, truth.effects))
        if level not in levels:
            raise UsageError(f"{file} says nothing of {factor} {level}", hint=f"It has {', '.join(levels)}.")
