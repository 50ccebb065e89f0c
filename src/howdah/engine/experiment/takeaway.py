"""Configuration files to take away from a search: the settings that were found, and the tuned defaults under them,
without names of this machine."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.engine.experiment.plan import arm_conditions
from howdah.hadoop.configuration import tuning
from howdah.hadoop.configuration.cluster import file_of
from howdah.hadoop.configuration.site import render_site
from howdah.hadoop.configuration.sizing import Sizing
from howdah.hadoop.distribution.jdk import Jdk
from howdah.model.experiment import Findings
from howdah.model.run import Run

_OF_THIS_MACHINE = ("class-data-sharing",)
"""Tuned defaults that name files in a cache."""


def site_files(found: Findings, run: Run) -> Mapping[str, str]:
    """Return `core-site.xml` and its kin, by name. `run` is a run of the search; its cluster gives sizes and the
    JDK."""
    described = run.cluster
    version = tuple(int(part) for part in described["jdk"]["version"].split("."))
    jdk = Jdk(described["jdk"]["home"], version, described["jdk"]["vendor"], "", ())
    facts = tuning.TuningFacts(Sizing(**described["sizing"]), jdk)
    asked = arm_conditions(found.experiment, found.candidate)
    tuned = tuning.select(stock=asked.made.stock, without=_OF_THIS_MACHINE)
    given = {**tuning.resolve(tuned, facts, asked.made.task_flags), **tuning.for_workloads(tuned, facts.sizing)}
    settings = {**given, **asked.conf}
    files: dict[str, dict[str, str]] = {}
    for key, value in settings.items():
        files.setdefault(file_of(key), {})[key] = value
    return {name: render_site(properties) for name, properties in files.items()}
