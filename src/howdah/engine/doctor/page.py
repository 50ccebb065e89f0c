"""`python -m howdah.engine.doctor.page > docs/how-to/doctor.md` makes that page from the table of rules."""

from __future__ import annotations

import sys

from howdah.engine.doctor import RULES, Rule

_HEAD = """# Check a machine before a run

```sh
howdah doctor
```

`howdah doctor` checks everything that is known to make a run fail or a number doubtful. It starts
nothing. Every finding has a level:

| level | what it means |
|---|---|
| `ok` | looked at, and fine |
| `note` | a reader of the numbers should know |
| `warning` | it will run, but numbers may be doubtful, or somebody is at risk |
| `error` | a cluster will not come up, or not stay up |

With an error the exit code is 1, otherwise 0. If the machine does not show a fact, a note reports
this. The last line is a judgement: whether clusters will start, and whether numbers that are made
now will be doubtful. A command after `fix:` puts the finding right; one after `look:` only shows more.

`howdah doctor --on hosts:FILE` (or another [allocation](../reference/allocations.md)) looks at every
host, and at what lies between them: whether they reach each other, whether two names are one host,
how far their clocks are apart, whether they have the same line of Java, whether their cards take
packets of one size, whether this machine knows each host by the name that it has for itself.
Errors come first, each with the name of its host.

This page is made from the table that the program uses (`src/howdah/engine/doctor/`). A finding may name a better
command than the one that stands here.
"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_HEAD, *map(_section, RULES)])


def _section(rule: Rule) -> str:
    text = f"## {rule.name}\n\n{rule.meaning}\n"
    if rule.fix is None:
        return text
    return f"{text}\n{'To look' if rule.looks else 'To fix it'}:\n\n```sh\n{rule.fix}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
