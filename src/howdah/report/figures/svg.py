"""Prepare a static SVG for a page: colours from style sheets, tooltips, unique ids."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from howdah.report.document.theme import STAND_INS

_SPACE = "http://www.w3.org/2000/svg"
_TAG = f"{{{_SPACE}}}"
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_SILENT = ("aria-roledescription", "role", "aria-hidden", "pointer-events", "stroke-miterlimit", "version")
_DEFAULTS = {"opacity": "1", "stroke-width": "1", "font-family": "system-ui"}
"""Attributes that repeat the page's style sheet."""


def fit(svg: str, *, prefix: str, label: str) -> str:
    """Return `svg`, drawn by Vega with the stand-ins of `theme`, in a form that fits into a page.

    The colours become classes, so that one picture serves light and dark. The marks' descriptions become `<title>`s.
    Ids get `prefix`. The picture has a role, and `label` as its text alternative. Elements that draw nothing are left
    out.
    """
    ElementTree.register_namespace("", _SPACE)
    root = ElementTree.fromstring(svg)  # noqa: S314 (the converter's own output)
    _tidy(root, prefix)
    width, height = root.attrib.pop("width"), root.attrib.pop("height")
    root.attrib.clear()
    root.attrib.update({"viewBox": f"0 0 {width} {height}", "style": f"max-width:{width}px", "role": "img"})
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode").replace(f' xmlns="{_SPACE}"', "")


def _tidy(element: ElementTree.Element, prefix: str) -> None:
    attributes = element.attrib
    description = attributes.pop("aria-label", None)
    is_mark = attributes.get("role") == "graphics-symbol" and attributes.get("aria-roledescription") != "axis"
    classes = [
        f"{sign}-{STAND_INS[attributes.pop(name)]}"
        for name, sign in (("fill", "f"), ("stroke", "s"))
        if attributes.get(name) in STAND_INS
    ]
    attributes.pop("class", None)
    for name in (*_SILENT, *(key for key, value in _DEFAULTS.items() if attributes.get(key) == value)):
        attributes.pop(name, None)
    if classes:
        attributes["class"] = " ".join(classes)
    for name, value in attributes.items():
        if name == "id":
            attributes[name] = prefix + value
        elif "url(#" in value:
            attributes[name] = value.replace("url(#", f"url(#{prefix}")
        else:
            attributes[name] = _NUMBER.sub(lambda match: f"{float(match.group()):.1f}", value)
    for child in list(element):
        _tidy(child, prefix)
        if _draws_nothing(child):
            element.remove(child)
    if is_mark and description:
        title = ElementTree.Element(f"{_TAG}title")
        title.text = description
        element.insert(0, title)


def _draws_nothing(element: ElementTree.Element) -> bool:
    if element.get("display") == "none" or (element.tag == f"{_TAG}g" and not len(element)):
        return True
    if element.tag == f"{_TAG}path":
        return not element.get("d") or ("class" not in element.attrib and element.get("fill", "none") == "none")
    return element.tag == f"{_TAG}rect" and element.get("fill") == "white"
