"""The PDF files of a corpus, to show their pages: where they lie, or kept after an upload."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.database import Database


def _kept(database: Database, corpus: str) -> tuple[Path, set[str]]:
    """Return the folder of a corpus's kept files, of this database alone, and its files' hashes."""
    (row,) = database.read("load/kept_files", corpus=corpus)
    name = text_hash(f"{row['database']} {corpus}")[:32]
    return Folders.from_environment().home / "kept" / name, set(row["hashes"])


def keep_file(database: Database, corpus: str, path: Path) -> None:
    """Move an uploaded file to the kept ones, if a document of the corpus was read from it."""
    folder, hashes = _kept(database, corpus)
    if (own := sha256(path.read_bytes()).hexdigest()) in hashes:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        shutil.move(path, folder / own)


def forget_files(database: Database, corpus: str) -> None:
    """Delete the kept files that no document of a corpus has any longer."""
    folder, hashes = _kept(database, corpus)
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in hashes:
                path.unlink(missing_ok=True)
        if not hashes:
            folder.rmdir()


def file_content(database: Database, corpus: str, own: str, sources: Sequence[str]) -> bytes | None:
    """Return the file of a hash, kept or at one of a document's sources; None where it is gone."""
    folder, _ = _kept(database, corpus)
    for path in (folder / own, *map(Path, sources)):
        with suppress(OSError):
            if path.is_file() and sha256(content := path.read_bytes()).hexdigest() == own:
                return content
    return None
