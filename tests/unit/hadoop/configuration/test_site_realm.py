"""The realm that a site gives: keytabs as MIT Kerberos writes them, and what is wrong with a directory."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.hadoop.configuration.security import KEYTABS
from howdah.hadoop.configuration.site_realm import SiteRealm, check_keytab, principals_in, read_site_realm

NAMES = st.lists(st.text("abcdefghij-.0123456789", min_size=1, max_size=12), min_size=1, max_size=3)


def entry(principal: str, *, vno: bool = True) -> bytes:
    """One key in a keytab, by the description of the format."""
    name, _, realm = principal.partition("@")
    parts = name.split("/")
    body = struct.pack(">H", len(parts))
    for part in (realm, *parts):
        body += struct.pack(">H", len(part)) + part.encode()
    body += struct.pack(">IIB", 1, 1_700_000_000, 2) + struct.pack(">HH", 18, 32) + bytes(32)
    body += struct.pack(">I", 2) if vno else b""
    return struct.pack(">i", len(body)) + body


def keytab(*principals: str) -> bytes:
    return b"\x05\x02" + b"".join(entry(one) for one in principals)


@given(st.lists(NAMES, max_size=5), st.binary(max_size=20))
def test_principals_of_a_keytab(names: list[list[str]], hole: bytes) -> None:
    principals = [f"{'/'.join(parts)}@R.EXAMPLE" for parts in names]
    content = keytab(*principals)
    content += struct.pack(">i", -len(hole)) + hole if hole else b""
    assert list(principals_in(content + entry("last@R", vno=False))) == [*principals, "last@R"]


@pytest.mark.parametrize("content", [b"", b"\x05\x01", b"plain text", keytab("nn/a@R")[:-1], b"\x05\x02\x00"])
def test_what_is_no_keytab(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"it begins with|it is cut off"):
        list(principals_in(content))


@pytest.mark.promise("A keytab that does not fit is named before a run", "how-to/kerberos-clusters")
def test_a_keytab_has_the_key_of_its_principal(tmp_path: Path) -> None:
    file = tmp_path / "me.keytab"
    file.write_bytes(keytab("ann@SITE.EXAMPLE", "hdfs/nn@SITE.EXAMPLE"))
    for principal in ("ann@SITE.EXAMPLE", "ann", "hdfs/nn"):
        check_keytab(file, principal)
    for principal in ("ann@OTHER.EXAMPLE", "bob"):
        with pytest.raises(UsageError, match=f"has no key of {principal}") as raised:
            check_keytab(file, principal)
        assert raised.value.hint == "It has ann@SITE.EXAMPLE, hdfs/nn@SITE.EXAMPLE."
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        check_keytab(tmp_path, "ann")
    file.write_bytes(b"ticket")
    with pytest.raises(UsageError, match="is no keytab: it begins with"):
        check_keytab(file, "ann")


def directory(place: Path, **others: bytes) -> Path:
    files = {"krb5.conf": b"[libdefaults]\n  default_realm = SITE.EXAMPLE\n"}
    files |= {name: keytab(f"{name.partition('.')[0]}/howdah@SITE.EXAMPLE") for name in KEYTABS}
    for name, content in {**files, **{name.replace("_", "."): content for name, content in others.items()}}.items():
        (place / name).write_bytes(content)
    return place


def test_a_realm_is_read_and_has_what_is_needed(tmp_path: Path) -> None:
    found = read_site_realm(directory(tmp_path))
    assert found.name == "SITE.EXAMPLE"
    assert set(found.files) == {"krb5.conf", *KEYTABS}
    found.check({"nn": ["nn/howdah"], "dn": ["dn/howdah"]})


@pytest.mark.promise("A key that a site's realm lacks is named before anything starts", "how-to/secure")
def test_a_key_that_is_missing_is_named(tmp_path: Path) -> None:
    found = read_site_realm(directory(tmp_path))
    words = "HTTP.keytab has no key of HTTP/a@SITE.EXAMPLE, HTTP/b@SITE.EXAMPLE: it has HTTP/howdah@SITE.EXAMPLE"
    with pytest.raises(UsageError, match=words):
        found.check({"HTTP": ["HTTP/a", "HTTP/howdah", "HTTP/b"]})
    of_another = SiteRealm("OTHER", found.files)
    with pytest.raises(UsageError, match=r"nn\.keytab has no key of nn/howdah@OTHER"):
        of_another.check({"nn": ["nn/howdah"]})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"krb5_conf": b"[realms]\n"}, "krb5.conf names no default_realm"),
        ({"dn_keytab": b"hello"}, "dn.keytab is no keytab: it begins with b'he'"),
    ],
)
def test_directories_that_are_no_realm(tmp_path: Path, change: dict[str, bytes], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_site_realm(directory(tmp_path, **change))


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    (directory(tmp_path) / "jhs.keytab").unlink()
    with pytest.raises(UsageError, match=r"jhs.keytab cannot be read: No such file"):
        read_site_realm(tmp_path)
