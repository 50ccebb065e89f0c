"""The identity of a trial: the settings decide, not their order."""

import json

from hypothesis import given
from hypothesis import strategies as st

from howdah.model.run import Trial

PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
)
KEYS = st.text(max_size=4)
SETTINGS = st.dictionaries(
    KEYS, PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(KEYS, PLAIN, max_size=3), max_size=4
)


@given(SETTINGS)
def test_order_and_storage_do_not_matter(settings):
    backwards = dict(reversed(settings.items()))
    stored = json.loads(json.dumps(settings))
    assert Trial("terasort", settings).identity == Trial("terasort", backwards).identity
    assert Trial("terasort", settings).identity == Trial("terasort", stored).identity


@given(SETTINGS)
def test_workload_and_every_setting_matter(settings):
    one = Trial("terasort", settings)
    assert one.identity != Trial("teragen", settings).identity
    assert one.identity != Trial("terasort", {**settings, "one more setting": 1}).identity


def test_the_identity_of_stored_runs_never_changes():
    assert Trial("terasort", {"size": 1_000_000_000, "nodes": 3}).identity == "a1fc6bdf567c7d2b"
