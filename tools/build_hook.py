"""Hatchling's hook: puts the commit into wheels and source distributions, refuses to build without Howdah's jars."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

JARS = (
    *("howdah-accelerator", "howdah-filesystem", "howdah-secure-io"),
    *("howdah-security", "howdah-spark", "howdah-workloads"),
)


class BuildHook(BuildHookInterface[Any]):
    """The hook that `pyproject.toml` names for every target."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the record of the commit, unless the tree is an unpacked source distribution, which has the record."""
        if version == "editable":
            return
        root = Path(self.root)
        package = root / "src" / "howdah"
        missing = [name for name in JARS if not (package / "jars" / f"{name}.jar").is_file()]
        if missing:
            raise SystemExit(f"{', '.join(missing)}: not in {package / 'jars'}; `make dist` builds jars and wheel")
        sys.path.insert(0, str(root / "src"))
        from howdah.host.source import RECORD, commit

        found = commit(package)
        if found is None or (package / RECORD).exists():
            return
        record = root / ".build" / RECORD
        record.parent.mkdir(exist_ok=True)
        record.write_text(f"{found}\n", encoding="utf-8")
        inside = "howdah" if self.target_name == "wheel" else "src/howdah"
        build_data["force_include"][str(record)] = f"{inside}/{RECORD}"
