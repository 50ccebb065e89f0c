"""Settings with secret values, which are left out of everything that is kept or shown.

The keys are those that Hadoop hides at `/conf` (`hadoop.security.sensitive-config-keys`), and similar ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "<redacted>"
"""Hadoop's word for a hidden value."""

_SENSITIVE = re.compile(
    r"(secret|passwo?r?d|pwd|passphrase|(?:^|[._-])pass|credentials?|token|access[._-]?key|secret[._-]?key|account[._-]?key"
    r"|encryption[._-]?key|session[._-]?key|sas[._-]?key|zk\.auth|zookeeper\.auth)(\.[\w.-]+\.windows\.net|\.\d+)?$",
    re.IGNORECASE,
)
_FIXED = re.compile(
    r"fs\.azure\.account\.key\.|fs\.azure\.oauth2\.|fs\.gs\.(auth|encryption|proxy)\.|fs\.s3.*secret.?key"
    r"|fs\.s3a\.(.*\.)?server-side-encryption\.key|fs\.s3a\.encryption\.(key|context)"
    r"|fs\.s3a\.bucket\..*\.(access|secret)\.key$|oauth.*(secret|password|token)",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?P<before>(?:-D|--conf[ =]|export )?)(?P<key>[\w.-]+)=(?P<value>\S.*)", re.DOTALL)
_FLAG = re.compile(r"-D(?P<key>[\w.-]+)=(\"[^\"]*\"|'[^']*'|[^\s\"']+)")
_VARIABLE = re.compile(
    r"^(\s*(?:export\s+)?\w*(?:secret|password|passwd|passphrase|token|access_key|api_key)\w*=).*$",
    re.IGNORECASE | re.MULTILINE,
)


def is_sensitive(key: str) -> bool:
    """Return whether the value of this setting is a secret."""
    return _SENSITIVE.search(key) is not None or _FIXED.search(key) is not None


def redacted(record: Any) -> Any:
    """Return `record` (lists and mappings as in JSON) without the values of sensitive keys and of words `KEY=VALUE`."""
    if isinstance(record, Mapping):
        return {key: _hidden(value) if _hides(key, value) else redacted(value) for key, value in record.items()}
    if isinstance(record, (list, tuple)):
        return [redacted(one) for one in record]
    return redacted_word(record) if isinstance(record, str) else record


def _hides(key: Any, value: Any) -> bool:
    # Not the last part of a longer name alone: `readback` has keys as `daemons/KEY`.
    return isinstance(key, str) and isinstance(value, (str, list, tuple)) and is_sensitive(key.rpartition("/")[2])


def _hidden(value: Any) -> Any:
    return REDACTED if isinstance(value, str) else [REDACTED for _ in value]


def redacted_word(word: str) -> str:
    """Return a word of a command line without secrets."""
    match = _WORD.fullmatch(word)
    if match is not None and is_sensitive(match["key"]):
        return f"{match['before']}{match['key']}={REDACTED}"
    return _FLAG.sub(_clean_flag, word)


def _clean_flag(flag: re.Match[str]) -> str:
    return f"-D{flag['key']}={REDACTED}" if is_sensitive(flag["key"]) else flag[0]


def redacted_script(text: str) -> str:
    """Return the text of a shell script, such as hadoop-env.sh, without secrets in variables and flags."""
    return _FLAG.sub(_clean_flag, _VARIABLE.sub(rf"\1{REDACTED}", text))
