"""A pack: all files of a report in one zip file, with a manifest that says what belongs in it.

The same files give the same bytes: entries are sorted, not compressed, and have no date. Not
compressed, because libraries compress differently, and most of the files are compressed already.
A pack that somebody unpacked and zipped again is read as well, if nothing was changed.
"""

from __future__ import annotations

import hashlib
import io
import platform
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourfifths._certify.result import Certificate
from fourfifths._evidence.formats.registry import FORMATS, Paper, format_of, render
from fourfifths._evidence.signing import Subject, envelope_of
from fourfifths._json import is_intact, parse_json, sealed
from fourfifths._results import json_text
from fourfifths._tables.files import replace_file
from fourfifths._text import listed, printable
from fourfifths.errors import EvidenceError, OutputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from fourfifths._evidence.report import Report

SCHEMA = "fourfifths/pack/1"
MANIFEST, SIGNATURE = "manifest.json", "manifest.json.sig"
# Which `fourfifths verify` runs again: one, or one for each protected column.
CERTIFICATE_NAME = re.compile(r"certificate(-\d+)?\.json")
MANIFEST_FIELDS = {
    *("schema", "fourfifths", "command", "environment", "data", "files", "content_sha256"),
}
PACK_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can state
MAX_FILES = 1_000
MAX_NAME_LENGTH = 200
MAX_FILE_BYTES = 2**28
MAX_PACK_BYTES = 2**29
MAX_DIRECTORY_BYTES = 2**20
END_OF_DIRECTORY = struct.Struct("<4s4H2LH")
ENCRYPTED = 0x1
NOT_IN_NAMES = frozenset('\\:*?"<>|')
ENVIRONMENT_PACKAGES = (
    *("fourfifths", "duckdb", "lightgbm", "narwhals", "numpy", "pyarrow", "scikit-learn", "scipy"),
)


@dataclass(frozen=True, kw_only=True)
class Pack:
    """What was read from a pack.

    Attributes
    ----------
    files : mapping of str to bytes
        All files but the manifest and its signature.
    manifest : bytes
    signature : bytes or None
    command : str
        The command that made the report.
    environment : mapping of str to str
        The versions of Python and of packages.
    data : Subject or None
        The table that the report is about.
    problems : tuple of str
        What is not as the manifest says.
    is_as_written : bool
        Whether its bytes are those that were written. If not, somebody zipped the files again.
    """

    files: Mapping[str, bytes]
    manifest: bytes
    signature: bytes | None
    command: str
    environment: Mapping[str, str]
    data: Subject | None
    problems: tuple[str, ...]
    is_as_written: bool

    @property
    def certificates(self) -> dict[str, bytes]:
        """The certificates in it, by name."""
        names = sorted(self.files, key=lambda name: (len(name), name))
        return {name: self.files[name] for name in names if CERTIFICATE_NAME.fullmatch(name)}


# --- writing ---


def report_files(report: Report, *, paper: Paper = "letter") -> dict[str, bytes]:
    """Return the files of a report's pack: the report in every format, and its certificates.

    A single certificate is called ``certificate.json``; several are numbered.

    Raises
    ------
    OptionError
        If what a format needs is not installed.
    """
    files = {
        f"report{ending}": render(report, format_of(Path(f"report{ending}")), paper=paper)
        for ending in FORMATS
    }
    certificates = [part.result for part in report.parts if isinstance(part.result, Certificate)]
    for number, certificate in enumerate(certificates, start=1):
        ordinal = "" if len(certificates) == 1 else f"-{number}"
        files[f"certificate{ordinal}.json"] = certificate_json(certificate, report)
    return files


def certificate_json(certificate: Certificate, report: Report) -> bytes:
    """Return a certificate of a report, with the provenance that the shell writes."""
    content = certificate.to_dict()
    if report.data is not None:
        dates = [field.text for field in report.provenance if field.key == "date"]
        content["provenance"] = {
            "command": report.command,
            "date": dates[0] if dates else "",
            "version": version("fourfifths"),
            "file": report.data.name,
            "sha256": report.data.sha256,
        }
    return f"{json_text(sealed(content))}\n".encode()


def write_pack(
    path: Path,
    files: Mapping[str, bytes],
    *,
    command: str,
    data: Subject | None,
    key: Ed25519PrivateKey | None = None,
) -> None:
    """Write a pack; if that fails, an older file stays as it was.

    Parameters
    ----------
    path : Path
    files : mapping of str to bytes
        By their names in the pack. Certificates are called ``certificate.json``, or
        ``certificate-1.json`` and so on: `fourfifths verify` runs them again.
    command : str
        The command that made the report.
    data : Subject or None
        The table that the report is about.
    key : Ed25519PrivateKey, optional
        Signs the manifest, and so everything in the pack.
    """
    content = pack_bytes(files, command=command, environment=environment(), data=data, key=key)
    replace_file(path, lambda temporary: temporary.write_bytes(content))


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a folder, which is made if it is missing; each appears whole or not at all."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
    for name in files:
        replace_file(folder / name, partial(Path.write_bytes, data=files[name]))


def pack_bytes(
    files: Mapping[str, bytes],
    *,
    command: str,
    environment: Mapping[str, str],
    data: Subject | None,
    key: Ed25519PrivateKey | None = None,
) -> bytes:
    """Return a pack; the parameters are those of `write_pack`."""
    for name in files:
        if problem := name_problem(name):
            raise EvidenceError(f"{name!r}: cannot be the name of a file in a pack: {problem}")
    folded = {name.casefold() for name in (MANIFEST, SIGNATURE, *files)}
    if len(folded) < len(files) + 2:
        raise EvidenceError(
            f"files of a pack: {listed(files)}: expected names that differ, also from {MANIFEST}"
        )
    manifest = {
        "schema": SCHEMA,
        "fourfifths": version("fourfifths"),
        "command": command,
        "environment": dict(environment),
        "data": None if data is None else asdict(data),
        "files": {name: digest_of(files[name]) for name in sorted(files)},
    }
    manifest_text = f"{json_text(sealed(manifest))}\n".encode()
    entries = {MANIFEST: manifest_text} | {name: files[name] for name in sorted(files)}
    if key is not None:
        entries[SIGNATURE] = envelope_of(
            manifest_text, name=MANIFEST, kind="pack manifest", key=key, about=data
        )
    return zip_bytes(entries)


def digest_of(content: bytes) -> dict[str, Any]:
    """Return what the manifest says about a file."""
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def zip_bytes(entries: Mapping[str, bytes]) -> bytes:
    """Return entries as a zip file, in their order; the same bytes on every machine."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression=zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, date_time=FIRST_DATE)
            info.create_system = 3  # Unix, whose permissions follow
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content)
    return stream.getvalue()


def environment() -> dict[str, str]:
    """Return the versions of Python, of the system and of the packages that compute."""
    versions = {"python": platform.python_version(), "system": platform.system()}
    for name in ENVIRONMENT_PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def name_problem(name: str) -> str:
    """Return why a file in a pack may not have a name, or nothing.

    Examples
    --------
    >>> name_problem("tables/race.csv"), name_problem("../x")
    ('', 'it leads out of the pack, or not to a file')
    """
    segments = name.split("/")
    if not 0 < len(name) <= MAX_NAME_LENGTH:
        return f"expected up to {MAX_NAME_LENGTH} letters"
    if any(segment in ("", ".", "..") for segment in segments):
        return "it leads out of the pack, or not to a file"
    if {*name} & NOT_IN_NAMES or not name.isprintable():
        return "it holds a character that some systems do not allow in file names"
    if any(segment != segment.strip() or segment.endswith(".") for segment in segments):
        return "a name in it begins or ends with a space, or ends with a full stop"
    if unicodedata.normalize("NFC", name) != name:
        return "its accents are characters of their own"
    return ""


# --- reading ---


def is_pack(path: Path) -> bool:
    """Return whether a file begins as a zip file does."""
    try:
        with path.open("rb") as stream:
            return stream.read(4) in PACK_STARTS
    except OSError:
        return False


def read_pack(path: Path) -> Pack:
    """Read a pack and compare its files with its manifest.

    What is not a pack, or could do harm, is an `EvidenceError`; what is not as the manifest says is
    among `Pack.problems`.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_PACK_BYTES + 1)
    except FileNotFoundError:
        raise EvidenceError(f"{path}: no such file") from None
    except OSError as error:
        raise EvidenceError(f"{path}: cannot be read: {error.strerror}") from error
    if len(content) > MAX_PACK_BYTES:
        raise EvidenceError(f"{path}: is larger than {MAX_PACK_BYTES:,} bytes; expected a pack")
    try:
        entries = unzipped(content)
        manifest = parse_manifest(entries)
    except ValueError as error:
        raise EvidenceError(f"{path}: not a pack of fourfifths: {error}") from None
    files = {name: entries[name] for name in entries if name not in (MANIFEST, SIGNATURE)}
    data = manifest["data"]
    order = [MANIFEST, *sorted(files), *([SIGNATURE] if SIGNATURE in entries else [])]
    return Pack(
        files=files,
        manifest=entries[MANIFEST],
        signature=entries.get(SIGNATURE),
        command=manifest["command"],
        environment=manifest["environment"],
        data=None if data is None else Subject(**data),
        problems=tuple(find_problems(manifest, files)),
        is_as_written=zip_bytes({name: entries[name] for name in order}) == content,
    )


def unzipped(content: bytes) -> dict[str, bytes]:
    """Return the entries of a zip file; what a pack never has is a ValueError.

    Sizes are those that the file claims, and are checked before anything is unpacked.
    """
    check_directory(content)
    entries: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            check_infos(infos)
            for info in infos:
                with archive.open(info) as stream:
                    entries[info.filename] = stream.read(info.file_size)
                if len(entries[info.filename]) != info.file_size:
                    raise ValueError(f"{info.filename!r} is shorter than it claims")
    except (
        *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, UnicodeError),
        *(RuntimeError, NotImplementedError),
    ) as error:
        raise ValueError(f"damaged: {printable(str(error))}") from None
    return entries


def check_directory(content: bytes) -> None:
    """Raise for a list of entries that is too long to be read, or is not at the file's end."""
    if len(content) < END_OF_DIRECTORY.size:
        raise ValueError("too short for a zip file")
    mark, *_, count, directory_bytes, _, comment_length = END_OF_DIRECTORY.unpack(
        content[-END_OF_DIRECTORY.size :]
    )
    if mark != b"PK\x05\x06" or comment_length:
        raise ValueError("it is cut off, or something follows after its end")
    if count > MAX_FILES or directory_bytes > MAX_DIRECTORY_BYTES:
        raise ValueError(f"it has more than {MAX_FILES:,} files")


def check_infos(infos: list[zipfile.ZipInfo]) -> None:
    """Raise for entries with bad names, that are not plain files, or that claim to be too large."""
    if len(infos) > MAX_FILES:
        raise ValueError(f"it has more than {MAX_FILES:,} files")
    seen = set[str]()
    for info in infos:
        name = info.filename
        if problem := name_problem(info.orig_filename):
            raise ValueError(f"the name {name[:MAX_NAME_LENGTH]!r}: {problem}")
        if name.casefold() in seen:
            raise ValueError(f"{name!r} occurs twice")
        seen.add(name.casefold())
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.is_dir() or kind not in (0, stat.S_IFREG):
            raise ValueError(f"{name!r} is a folder or a link; expected files only")
        if info.flag_bits & ENCRYPTED:
            raise ValueError(f"{name!r} is encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{name!r} is compressed in a way that packs never are")
        if info.file_size > MAX_FILE_BYTES:
            raise ValueError(
                f"{name!r} claims {info.file_size:,} bytes; at most {MAX_FILE_BYTES:,}"
            )
    if sum(info.file_size for info in infos) > MAX_PACK_BYTES:
        raise ValueError(f"its files claim more than {MAX_PACK_BYTES:,} bytes together")


def parse_manifest(entries: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the manifest; one that `write_pack` does not write is a ValueError."""
    if MANIFEST not in entries:
        raise ValueError(f"it has no {MANIFEST}")
    manifest = parse_json(entries[MANIFEST])
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise ValueError(f"{MANIFEST}: expected the schema {SCHEMA!r}")
    if {*manifest} != MANIFEST_FIELDS:
        differing = sorted({*manifest} ^ MANIFEST_FIELDS)
        raise ValueError(f"{MANIFEST}: unexpected or missing: {listed(differing)}")
    if not is_intact(manifest):
        raise ValueError(f"{MANIFEST} was changed after it was written")

    def are_texts(value: Any, names: set[str] | None = None) -> bool:
        return (
            isinstance(value, dict)
            and (names is None or {*value} == names)
            and all(isinstance(entry, str) for entry in value.values())
        )

    is_valid = (
        isinstance(manifest["command"], str)
        and isinstance(manifest["fourfifths"], str)
        and are_texts(manifest["environment"])
        and (manifest["data"] is None or are_texts(manifest["data"], {"name", "sha256"}))
        and isinstance(manifest["files"], dict)
    )
    if not is_valid:
        raise ValueError(f"{MANIFEST}: expected what fourfifths wrote")
    return manifest


def find_problems(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a sentence for each file that is not as the manifest says."""
    listed_files = manifest["files"]
    for name in sorted({*listed_files, *files}):
        if name not in files:
            yield f"{name!r} is in the manifest, but not in the pack"
        elif name not in listed_files:
            yield f"{name!r} is in the pack, but not in the manifest"
        elif listed_files[name] != digest_of(files[name]):
            yield f"{name!r} is not the file that the manifest names: its SHA-256 differs"
