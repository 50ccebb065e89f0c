"""Labels of results that a reader must see first: nothing was run, or the hosts were parts of one machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

from howdah.model.run import Run
from howdah.report.document.blocks import Badge


@dataclass(frozen=True, slots=True)
class Label:
    """Results are of a `synthetic` cluster, for which nothing was run, or of a real one on simulated `hosts`."""

    synthetic: bool = False
    hosts: bool = False

    @property
    def prefix(self) -> str:
        """The beginning of a headline, with a space behind it; empty if there is nothing to know."""
        return "Simulated: " if self.synthetic else "On simulated hosts: " if self.hosts else ""

    def on(self, badge: Badge) -> Badge:
        """Return a verdict's badge with the label."""
        if self.synthetic:
            return Badge("simulated", f"simulated: {badge.word}")
        return replace(badge, word=f"{badge.word}, simulated hosts") if self.hosts else badge


def label_of(*runs: Run) -> Label:
    """Return the label of results of `runs`. One run is enough for it."""
    return Label(any(one.simulated for one in runs), any(one.on_simulated_hosts for one in runs))
