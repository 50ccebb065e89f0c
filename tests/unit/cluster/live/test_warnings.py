"""What everybody should know of a cluster's hosts."""

from __future__ import annotations

import pytest

from howdah.cluster.live.managed import _warnings


@pytest.mark.promise("Every run on simulated hosts says what they have and what they cannot show", "how-to/simulate")
def test_simulated_hosts_say_what_they_cannot_show() -> None:
    [words] = _warnings({"kind": "sim", "hosts": 3, "disks": 1, "cpus": 0.5}, 2)
    assert words.startswith(
        "the hosts are simulated: each has a network card, 1 disk and 0.5 of its processors' time, "
    )
    assert words.endswith("share the processors, memory and disks of one machine. There is no delay between them, and "
                          "disks do not seek")  # fmt: skip
    _, more = _warnings({"kind": "sim", "hosts": 3, "cpus": 1.0}, 2)
    assert more == "the hosts may use 3 processors together, and the machine has 2"
    assert _warnings({"kind": "local"}, 2) == ()
