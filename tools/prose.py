"""The rules of our prose that a program can check: listed words, long sentences, wide lines. See CONTRIBUTING.md.

.venv/bin/python -m tools.prose            checks every page, and docstrings and messages of every module
.venv/bin/python -m tools.prose FILE…      checks these

A line of a page that must break a rule ends with `<!-- prose: REASON -->`. Code, tables' widths, quotations and link
targets are not checked.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
MADE = {
    *("docs/examples/terasort.md", "docs/examples/network.md", "docs/examples/disks.md", "docs/how-to/doctor.md"),
    "docs/examples/protection.md",
    "docs/examples/protection-dfsio.md",
    "docs/examples/faults.md",
    "docs/examples/nodes.md",
    *(f"docs/reference/{name}.md" for name in ("commands", "contracts", "factors", "filesystem", "metrics")),
    "docs/reference/tuned-defaults.md",
}
"""Generated pages. Their prose is in the code."""
MODULES = ("src/howdah/**/*.py", "tools/*.py")

GENERATED = re.compile(r"^<!-- promises: begin -->$.*?^<!-- promises: end -->$", re.MULTILINE | re.DOTALL)
ESCAPE = re.compile(r"<!-- prose: \S.* -->\s*$")
WIDTH, LONG, LONGEST, SHARE = 100, 25, 40, 0.05
_ENGLISH = re.compile(r"\b(the|an?|is|are|of|to|not?|and|in|it|its|for|with)\b", re.IGNORECASE)
"""Without one of these words, a string of a program is a list of names, a command or the like."""

WORDS = {
    r"synchroni[sz]e[sd]?": "fsync",
    r"(is|are|was|were|be|been|being) ended": "stop, kill, shut down",
    r"mend(s|ed|ing)?": "fix",
    r"anew": "again, from scratch",
    r"hears? of": "learn",
    r"(is|are|was|were) (said|told)": "print, report, notify",
    r"beside": "besides, in addition to, next to",
    r"pass(es|ed)? by": "bypass",
    r"as (it|they) comes?": "by default, stock",
    r"hand(s|ed|ing)? (on|over)": "pass, delegate",
    r"reading again": "review",
    r"Hadoop's own": "stock",
}
_LISTED = {re.compile(rf"(?<![\w-]){word}(?![\w-])", re.IGNORECASE): better for word, better in WORDS.items()}
_STARTS = re.compile(r"(Of|What|Where|So|That)\b")
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|`[^`]*`")
_LINK = re.compile(r"\]\([^)]*\)")
_BREAK = re.compile(r"(?<=[.!?])[)\"”*]*\s+(?=[A-Z0-9`(*\"“\[])")
_WORD = re.compile(r"[\w'\u2019-]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a page, with the line where it begins."""

    line: int
    text: str

    @property
    def words(self) -> int:
        """The number of words. Text in backticks is one word."""
        return len(_WORD.findall(re.sub(r"`[^`]*`", "code", _LINK.sub("]", self.text))))


def problems(page: str, name: str) -> Iterator[str]:
    """Yield a line about each place where `page`, Markdown, breaks a rule."""
    lines = GENERATED.sub(lambda found: "\n" * found[0].count("\n"), page).splitlines()
    fenced = False
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced or ESCAPE.search(line):
            continue
        if len(line) > WIDTH and not line.startswith("|") and " " in line.strip():
            yield f"{name}:{number}: {len(line)} columns, {WIDTH} at most"
        yield from _listed(line, f"{name}:{number}")
    every = list(sentences(lines))
    for one in every:
        yield from _misshapen(one, f"{name}:{one.line}")
    long = [one for one in every if one.words > LONG]
    if len(long) > max(1, SHARE * len(every)):
        places = ", ".join(str(one.line) for one in long)
        yield f"{name}: {len(long)} of {len(every)} sentences have more than {LONG} words: lines {places}"


def problems_of_module(text: str, name: str) -> Iterator[str]:
    """Yield a line about each place where a docstring or a message of `text`, Python, breaks a rule."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines, before = node.value.value.splitlines(), node.lineno - 1
            for number, line in enumerate(lines, start=1):
                yield from _listed(line, f"{name}:{before + number}")
            for one in sentences(lines):
                yield from _misshapen(one, f"{name}:{before + one.line}")
    for place, message in _messages(tree):
        yield from _listed(message, f"{name}:{place}")
        for one in _split(place, message):
            # A heading or the beginning of a sentence has no full stop.
            if one.text.endswith((".", ".]")) or one.words > LONGEST:
                yield from _misshapen(one, f"{name}:{place}")


def _messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string of one line in English that is no docstring."""
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        if id(node) in inside or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "`x`" for part in parts)
        if "\n" not in text and _ENGLISH.search(text):
            yield node.lineno, text


def _listed(line: str, place: str) -> Iterator[str]:
    for pattern, better in _LISTED.items():
        if found := pattern.search(_QUOTED.sub("", _LINK.sub("]", line))):
            yield f"{place}: “{found[0]}”: {better}"


def _misshapen(one: Sentence, place: str) -> Iterator[str]:
    if one.words > LONGEST:
        yield f"{place}: {one.words} words, {LONGEST} at most: {one.text[:60]}…"
    if (start := _STARTS.match(one.text)) and not one.text.rstrip().endswith("?"):
        yield f"{place}: begins with “{start[0]}”: {one.text[:60]}…"


def sentences(lines: list[str]) -> Iterator[Sentence]:
    """Yield the sentences of paragraphs, list items and table cells, but not of headings and code."""
    begun, words, fenced = 0, list[str](), False
    for number, line in enumerate([*lines, ""], start=1):
        text = line.strip()
        if text.startswith("```"):
            fenced = not fenced
        block = text == "" or text.startswith(("#", "```", "<!--", "|"))
        item = re.match(r"(?:[-*>]|\d+\.)\s+", text)
        if fenced or block or item is not None or ESCAPE.search(line):
            yield from _split(begun, " ".join(words))
            words = []
        if fenced or (block and not text.startswith("|")) or ESCAPE.search(line):
            continue
        if text.startswith("|"):
            for cell in text.strip("|").split("|"):
                yield from _split(number, cell.strip())
            continue
        if not words:
            begun = number
        words.append(text[item.end() :] if item else text)


def _split(line: int, text: str) -> Iterator[Sentence]:
    for one in _BREAK.split(text):
        if re.search(r"[a-z]", one):
            yield Sentence(line, one.lstrip("*_ "))


def main(arguments: list[str]) -> int:
    """Print every problem. Return 1 if there is one."""
    pages = {file for pattern in PAGES for file in ROOT.glob(pattern)} - {ROOT / one for one in MADE}
    modules = {file for pattern in MODULES for file in ROOT.glob(pattern)}
    found: list[str] = []
    for file in [Path(one) for one in arguments] or sorted(pages | modules):
        check = problems_of_module if file.suffix == ".py" else problems
        found += check(file.read_text(encoding="utf-8"), str(file))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
