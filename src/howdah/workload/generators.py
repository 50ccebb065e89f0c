"""Howdah's generators of data (`java/workloads`), which are jobs of maps alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from howdah.errors import WorkloadFailed
from howdah.hadoop.distribution.jars import how_to_get_jars
from howdah.workload import Session

_GENERATED = re.compile(r"^generated (\w+) (-?\d+)$", re.MULTILINE)


def run_generator(
    session: Session,
    program: str,
    directory: str,
    amount: int,
    *definitions: str,
    counts: Sequence[str],
    maps: int,
    data_bytes: int | None,
) -> Mapping[str, int]:
    """Run `program` as phase `gen`, and return its `counts`, by name. It generates `amount` of its units into a
    directory of the storage, as `maps` files. Raises WorkloadFailed if it does not print one of its counts."""
    settings = (*session.programs.in_client(maps), f"-Dmapreduce.job.maps={maps}", *definitions)
    line = session.programs.workloads(program, *settings, str(amount), session.storage.uri(directory))
    ran = session.run("gen", "prepare", line, data_bytes=data_bytes)
    found = {name: int(number) for name, number in _GENERATED.findall(ran.output)}
    if missing := [name for name in counts if name not in found]:
        raise WorkloadFailed(
            f"{program} did not say its {' and '.join(missing)}: its data could not be verified",
            hint=f"Its jar may be an older one. {how_to_get_jars()}",
        )
    return found
