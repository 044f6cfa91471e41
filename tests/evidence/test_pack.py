"""Packs: the same bytes for the same files, and nothing in a pack is trusted."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fourfifths._evidence.pack import (
    MANIFEST,
    MAX_FILE_BYTES,
    Pack,
    environment,
    is_pack,
    name_problem,
    pack_bytes,
    read_pack,
    write_pack,
)
from fourfifths._evidence.signing import Subject
from fourfifths._json import sealed
from fourfifths.errors import EvidenceError

FILES = {"report.html": b"<p>4/5</p>", "certificate.json": b"{}", "tables/race.csv": b"a,b\n"}
DATA = Subject(name="loans.csv", sha256="cd" * 32)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def packed(files: dict[str, bytes] = FILES, **options: Any) -> bytes:
    settings = {"command": "fourfifths report", "environment": {"python": "3.13"}, "data": DATA}
    return pack_bytes(files, **(settings | options))


def entries_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(entries: list[tuple[str | zipfile.ZipInfo, bytes]], **options: Any) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that occurs twice
        with zipfile.ZipFile(stream, "w", **options) as archive:
            for name, content in entries:
                archive.writestr(name, content)
    return stream.getvalue()


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], Pack]:
    def read_bytes(content: bytes) -> Pack:
        (tmp_path / "p.zip").write_bytes(content)
        return read_pack(tmp_path / "p.zip")

    return read_bytes


Read = Callable[[bytes], Pack]


def test_a_pack_is_read_as_it_was_written(read: Read) -> None:
    pack = read(packed())
    assert pack.files == FILES
    assert (pack.command, pack.environment, pack.data) == (
        "fourfifths report",
        {"python": "3.13"},
        DATA,
    )
    assert (pack.problems, pack.is_as_written, pack.signature) == ((), True, None)


def test_the_same_files_are_the_same_bytes() -> None:
    assert packed() == packed(dict(reversed(FILES.items())))
    assert packed(key=KEY) == packed(key=KEY) != packed()
    with zipfile.ZipFile(io.BytesIO(packed())) as archive:
        infos = archive.infolist()
    assert [info.filename for info in infos] == [MANIFEST, *sorted(FILES)]
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}


def test_the_bytes_do_not_depend_on_the_machine() -> None:
    # A zip file of one stored entry, by the format's definition (PKWARE's APPNOTE 6.3).
    from zlib import crc32

    from fourfifths._evidence.pack import zip_bytes

    day = (1980 - 1980) << 9 | 1 << 5 | 1
    shared = struct.pack("<HHHHHLLLHH", 20, 0, 0, 0, day, crc32(b"x"), 1, 1, 1, 0)
    local = b"PK\x03\x04" + shared + b"a" + b"x"
    mode = (stat.S_IFREG | 0o644) << 16
    central = (
        b"PK\x01\x02"
        + struct.pack("<H", 3 << 8 | 20)
        + shared
        + struct.pack("<HHHLL", 0, 0, 0, mode, 0)
        + b"a"
    )
    end = b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(central), len(local), 0)
    assert zip_bytes({"a": b"x"}) == local + central + end


def test_the_manifest_names_every_file_with_its_hash() -> None:
    manifest = json.loads(entries_of(packed())[MANIFEST])
    assert manifest["files"] == {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in FILES.items()
    }


def test_a_manifest_is_as_its_schema_says() -> None:
    folder = Path(__file__).parents[2] / "docs" / "schema"
    schema = json.loads((folder / "pack.schema.json").read_text(encoding="utf-8"))
    for data in (DATA, None):
        jsonschema.validate(json.loads(entries_of(packed(data=data))[MANIFEST]), schema)


def test_the_environment_names_python_and_packages() -> None:
    assert {"python", "system", "fourfifths", "numpy", "duckdb"} <= {*environment()}


def test_a_pack_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    assert not is_pack(path)
    write_pack(path, FILES, command="x", data=None)
    assert is_pack(path)
    assert read_pack(path).data is None
    assert [entry.name for entry in tmp_path.iterdir()] == ["p.zip"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"report.html": b"<p>5/5</p>"}, "'report.html' is not the file that the manifest names"),
        ({"report.html": None}, "'report.html' is in the manifest, but not in the pack"),
        ({"more.txt": b""}, "'more.txt' is in the pack, but not in the manifest"),
    ],
)
def test_what_is_not_as_the_manifest_says(
    read: Read, change: dict[str, bytes | None], problem: str
) -> None:
    entries = entries_of(packed()) | change
    pack = read(zipped([(name, text) for name, text in entries.items() if text is not None]))
    assert len(pack.problems) == 1
    assert pack.problems[0].startswith(problem)


def test_a_pack_that_was_zipped_again_says_so(read: Read) -> None:
    entries = list(entries_of(packed()).items())
    pack = read(zipped(entries, compression=zipfile.ZIP_DEFLATED))
    assert (pack.problems, pack.is_as_written, pack.files) == ((), False, FILES)


@pytest.mark.parametrize(
    "field", ["schema", "fourfifths", "command", "environment", "data", "files", "content_sha256"]
)
@pytest.mark.parametrize("value", [None, 5, "other", [], {"a": 1}, "gone"])
def test_whatever_is_changed_in_the_manifest_is_noticed(read: Read, field: str, value: Any) -> None:
    entries = entries_of(packed())
    manifest = json.loads(entries[MANIFEST])
    changed = {key: entry for key, entry in manifest.items() if key != field or value != "gone"}
    if value != "gone":
        changed[field] = value
    with pytest.raises(EvidenceError, match=r"not a pack of fourfifths: manifest\.json"):
        read(zipped([*(entries | {MANIFEST: json.dumps(changed).encode()}).items()]))


@pytest.mark.parametrize(
    ("field", "value"),
    [("command", 5), ("environment", {"python": 3}), ("data", {"name": "x"}), ("files", [])],
)
def test_a_manifest_with_wrong_types_is_refused(read: Read, field: str, value: Any) -> None:
    entries = entries_of(packed())
    changed = sealed(json.loads(entries[MANIFEST]) | {field: value})
    with pytest.raises(EvidenceError, match=r"manifest\.json: expected what fourfifths wrote"):
        read(zipped([*(entries | {MANIFEST: json.dumps(changed).encode()}).items()]))


@pytest.mark.parametrize(
    ("manifest", "match"),
    [
        (b"[" * 10**6, "nested more than 100 deep"),
        (b'{"schema": 1, "schema": 2}', "the key 'schema' occurs twice"),
        (b"NaN", "NaN is not JSON"),
        (b"[]", "expected the schema"),
        (b"\xff", "can't decode"),
    ],
)
def test_a_hostile_manifest_is_one_line(read: Read, manifest: bytes, match: str) -> None:
    with pytest.raises(EvidenceError, match=match):
        read(zipped([(MANIFEST, manifest)]))


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/passwd",
        "a/../../x",
        "..\\x",
        "C:x",
        "a//b",
        "./a",
        "a/",
        "a\x1b[31m",
        "a.",
        "x" * 201,
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(read: Read, name: str) -> None:
    assert name_problem(name)
    with pytest.raises(EvidenceError, match="not a pack of fourfifths: the name"):
        read(zipped([*entries_of(packed()).items(), (name, b"")]))
    with pytest.raises(EvidenceError, match="cannot be the name of a file in a pack"):
        packed({name: b""})


@pytest.mark.parametrize("name", ["report.html", "REPORT.html"])
def test_a_name_twice_is_refused(read: Read, name: str) -> None:
    with pytest.raises(EvidenceError, match="occurs twice"):
        read(zipped([*entries_of(packed()).items(), (name, b"other")]))


def test_two_files_of_one_name_are_not_packed() -> None:
    with pytest.raises(EvidenceError, match="expected names that differ"):
        packed({"a": b"", "A": b""})
    with pytest.raises(EvidenceError, match=r"also from manifest\.json"):
        packed({"Manifest.json": b""})


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR, stat.S_IFCHR])
def test_links_and_devices_are_refused(read: Read, kind: int) -> None:
    info = zipfile.ZipInfo("link")
    info.create_system = 3
    info.external_attr = (kind | 0o777) << 16
    with pytest.raises(EvidenceError, match="'link' is a folder or a link; expected files only"):
        read(zipped([*entries_of(packed()).items(), (info, b"/etc/passwd")]))


def with_claimed_size(content: bytes, size: int) -> bytes:
    """Return a zip file whose last entry claims to unpack to so many bytes."""
    place = content.rindex(b"PK\x01\x02") + 24
    return content[:place] + struct.pack("<L", size) + content[place + 4 :]


def test_a_bomb_is_refused_before_it_is_unpacked(read: Read) -> None:
    bomb = with_claimed_size(zipped([("a", b"\0" * 1000)], compression=zipfile.ZIP_DEFLATED), 10**9)
    with pytest.raises(
        EvidenceError, match=f"'a' claims 1,000,000,000 bytes; at most {MAX_FILE_BYTES:,}"
    ):
        read(bomb)


def test_files_that_are_too_large_together_are_refused(read: Read) -> None:
    content = zipped([("a", b""), ("b", b""), ("c", b"")])
    start = 0
    for _ in range(3):
        start = content.index(b"PK\x01\x02", start) + 24
        content = content[:start] + struct.pack("<L", MAX_FILE_BYTES) + content[start + 4 :]
    with pytest.raises(EvidenceError, match="its files claim more than 536,870,912 bytes together"):
        read(content)


@pytest.mark.parametrize("size", [5, 5000])
def test_a_size_that_is_not_true_is_damage(read: Read, size: int) -> None:
    content = zipped([("a", b"\0" * 1000)], compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(EvidenceError, match=r"damaged: Bad CRC|shorter than it claims"):
        read(with_claimed_size(content, size))


def test_too_many_files_are_refused(read: Read) -> None:
    with pytest.raises(EvidenceError, match="it has more than 1,000 files"):
        read(zipped([(str(index), b"") for index in range(1001)]))


@pytest.mark.parametrize("kept", [0, 3, 10, 21, 100, -1, -30])
def test_a_pack_that_is_cut_off_is_one_line(read: Read, kept: int) -> None:
    with pytest.raises(EvidenceError, match=r"fourfifths: (too short|it is cut off)"):
        read(packed()[:kept])


def test_what_follows_after_the_end_is_refused(read: Read) -> None:
    with pytest.raises(EvidenceError, match="something follows after its end"):
        read(packed() + b"more")


def test_every_changed_byte_is_noticed(read: Read) -> None:
    """Whichever byte of a pack is changed, it is refused, or differs, or was zipped again."""
    content = packed({"a": b"xyz"})
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        try:
            pack = read(bytes(changed))
        except EvidenceError:
            continue
        assert pack.problems or not pack.is_as_written, place
        assert pack.problems or pack.files == {"a": b"xyz"}, place


def test_other_compressions_and_encryption_are_refused(read: Read) -> None:
    with pytest.raises(EvidenceError, match="compressed in a way that packs never are"):
        read(zipped([("a", b"x")], compression=zipfile.ZIP_LZMA))
    content = zipped([("a", b"x")])
    place = content.index(b"PK\x01\x02") + 8
    with pytest.raises(EvidenceError, match="'a' is encrypted"):
        read(content[:place] + b"\x01\x00" + content[place + 2 :])


def test_a_zip_file_of_something_else(read: Read) -> None:
    with pytest.raises(EvidenceError, match=r"not a pack of fourfifths: it has no manifest\.json"):
        read(zipped([("a", b"x")]))


def test_a_pack_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="no such file"):
        read_pack(tmp_path / "none.zip")
    with pytest.raises(EvidenceError, match="cannot be read: Is a directory"):
        read_pack(tmp_path)
