"""The file of a synthetic cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.model.truth import MEASURED, Noise, Truth
from howdah.spec.truth import read_truth

WHOLE = """\
value: 60
effects:
  dfs.blocksize: { 64M: 1.1, 128M: 1 }
  nodes: { 1: 1, 3: 0.5 }
together:
  - { levels: { dfs.blocksize: 64M, nodes: 3 }, ratio: 1.2 }
noise: { cv: 5%, restart_cv: 0.02, autocorrelation: 30%, drift: 10%, drift_runs: 20, outliers: 1%, outlier_ratio: 2 }
failing: 2 %
seed: 7
"""


def read(tmp_path: Path, content: str) -> Truth:
    file = tmp_path / "truth.yaml"
    file.write_text(content, encoding="utf-8")
    return read_truth(file)


def test_everything_that_may_be_said(tmp_path: Path) -> None:
    assert read(tmp_path, WHOLE) == Truth(
        value=60.0,
        effects={"dfs.blocksize": {"64M": 1.1, "128M": 1.0}, "nodes": {"1": 1.0, "3": 0.5}},
        together=(({"dfs.blocksize": "64M", "nodes": "3"}, 1.2),),
        noise=Noise(0.05, 0.02, 0.3, 0.1, 20, 0.01, 2.0),
        failing=0.02,
        seed=7,
    )
    assert read(tmp_path, "value: 1.5") == Truth(1.5)


def test_noise_may_be_what_was_measured_and_a_drift_may_go_down(tmp_path: Path) -> None:
    assert MEASURED
    for name, noise in MEASURED.items():
        assert noise.cv > 0
        assert read(tmp_path, f"value: 60\nnoise: {name}").noise == noise
    assert read(tmp_path, "value: 60\nnoise: { drift: -4% }").noise == Noise(drift=-0.04)


def test_what_it_says_of_settings(tmp_path: Path) -> None:
    truth = read(tmp_path, WHOLE)
    assert truth.of({}) == 60
    assert truth.of({"nodes": "3"}) == 30
    assert truth.of({"nodes": "3", "dfs.blocksize": "64M"}) == pytest.approx(60 * 0.5 * 1.1 * 1.2)
    with pytest.raises(KeyError):
        truth.of({"nodes": "2"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("seed: 1", "line 1: a synthetic cluster needs the key 'value'"),
        ("value: 60\nnose: {}", "line 2: unknown key 'nose'"),
        ("value: 60\nnoise: {\n  vc: 5% }", "line 3: unknown key 'vc' in noise"),
        ("value: 60\nnoise: terasort", "line 2: no noise of 'terasort' was measured"),
        ("value: 60\nnoise: { drift: -100% }", "line 2: '-100%' is not a change between -100 % and 100 %"),
        ("value: zero", "line 1: 'zero' is not a number"),
        ("value: -3", "line 1: '-3' is not a number above 0"),
        ("value: .nan", "line 1: '.nan' is not a number"),
        ("value: nan", "line 1: 'nan' is not a number above 0"),
        ("value: 60\nfailing: 120%", "line 2: '120%' is not a share between 0 and 100 %"),
        ("value: 60\nseed: 1.5", "line 2: '1.5' is not a whole number of at least 0"),
        ("value: 60\neffects: {a: [1]}", "line 2: a must be a mapping"),
        ("value: 60\ntogether:\n  - {levels: {a: 1}}", "line 3: levels that do something together need both"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(UsageError, match=r"truth\.yaml") as raised:
        read(tmp_path, content)
    assert message in raised.value.message
