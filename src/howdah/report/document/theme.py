"""Colours by meaning, on light and dark pages, and the stand-in colours that figures are drawn with.

The hues are those of Okabe and Ito (Color Universal Design, 2008), lighter on dark pages. No figure relies on colour
alone: steps have heights, lost attempts are hollow, lines and dots have labels.
"""

from __future__ import annotations

COLOURS = {
    "ink": ("#1c2024", "#e6e8ea"),
    "muted": ("#5c656e", "#9aa4ae"),
    "grid": ("#e7eaed", "#2b3138"),
    "axis": ("#c3c9cf", "#4a535c"),
    "paper": ("#ffffff", "#14181c"),
    "panel": ("#f6f7f8", "#1b2026"),
    "map": ("#0072b2", "#4fa8e0"),
    "shuffle": ("#e69f00", "#f0b93a"),
    "merge": ("#b8588f", "#dd93bd"),
    "reduce": ("#009e73", "#2fbf97"),
    "other": ("#7a828a", "#8b949d"),
    "lost": ("#d55e00", "#ff8a4a"),
    "failed": ("#d55e00", "#ff8a4a"),
    "outside": ("#c9ced3", "#4d565f"),
    "starting": ("#e69f00", "#f0b93a"),
    "tasks": ("#0072b2", "#4fa8e0"),
    "ending": ("#8b949d", "#78828c"),
    "baseline": ("#5c656e", "#aab4be"),
    "contender": ("#0072b2", "#4fa8e0"),
    "busy": ("#0072b2", "#4fa8e0"),
    "waiting": ("#a9cfe6", "#28506c"),
    "write": ("#d55e00", "#ff8a4a"),
    "read": ("#009e73", "#2fbf97"),
    "loopback": ("#b8588f", "#dd93bd"),
    "cards": ("#7a828a", "#8b949d"),
    "power": ("#8a6d00", "#d9b949"),
}
"""Name → colour on a light page, colour on a dark page."""

STEP_HEIGHTS = {"map": 1.0, "shuffle": 0.36, "merge": 0.62, "reduce": 1.0}
"""The share of its lane that a step fills. Besides the colour, this height distinguishes the steps."""


def step_colour(step: str) -> str:
    """Return the colour of a step of an attempt."""
    return step if step in STEP_HEIGHTS else "other"


VERDICTS = {"faster": "reduce", "slower": "failed", "different": "contender"}
"""The colours of shown differences, by verdict."""


def stand_in(name: str) -> str:
    """Return the colour that a figure uses in place of `name`. No figure uses it for anything else."""
    return f"#fe00{list(COLOURS).index(name):02x}"


STAND_INS = {stand_in(name): name for name in COLOURS}


def css_variables() -> str:
    """Return the CSS rules that give every colour its light and dark value."""
    light, dark = ("".join(f"--{name}:{pair[side]};" for name, pair in COLOURS.items()) for side in (0, 1))
    uses = "".join(
        f".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}.k-{name}{{background:var(--{name})}}\n"
        for name in COLOURS
    )
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{uses}"
    )
