"""Office files are zip archives: refuse bombs, encrypted ones and the old binary formats before a parser sees them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pages import MAX_UNPACKED_BYTES, DocumentFault

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def check_zip(path: Path) -> None:
    """Raises DocumentFault for what is no healthy zip archive of a bearable size."""
    with path.open("rb") as stream:
        head = stream.read(8)
        if head == OLE:
            rest = stream.read(1 << 20)
            if "EncryptedPackage".encode("utf-16-le") in rest:
                raise DocumentFault("encrypted", "is encrypted: it needs a password")
            raise DocumentFault("unsupported", "is in the old binary Office format; save it in the current one")
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DocumentFault("malformed", f"is not a zip archive ({error})") from None
    if any(info.flag_bits & 1 for info in infos):
        raise DocumentFault("encrypted", "is encrypted: it needs a password")
    total = sum(info.file_size for info in infos)
    if total > MAX_UNPACKED_BYTES:
        raise DocumentFault("too_large", f"unpacks to {total} bytes; at most {MAX_UNPACKED_BYTES} are read")
