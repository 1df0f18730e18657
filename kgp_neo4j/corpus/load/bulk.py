"""Load a first, large corpus through the files of `neo4j-admin database import`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from kgp_neo4j.corpus.load.import_files import Account, ImportFiles
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.source import Source, find_files
from kgp_neo4j.corpus.load.write import batches
from kgp_neo4j.environment.files import InputFiles, shown, size_on_disk
from kgp_neo4j.environment.folders import Connection, Folders
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb import server
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.install import installation, open_database, open_ready
from kgp_neo4j.text.language import guess_language
from kgp_neo4j.types.corpus import LoadReport
from kgp_neo4j.types.errors import ConfigurationError, DatabaseError, InputError

__all__ = ["load_in_bulk", "write_import_files"]

_Echo = Callable[[str], object]


def load_in_bulk(
    paths: Iterable[str | Path],
    corpus: str,
    *,
    passage_size: int | None = None,
    language: str | None = None,
    keep_going: bool = False,
    folders: Folders | None = None,
    echo: _Echo,
) -> LoadReport:
    """Load files into the embedded database, which must be empty, and report as `load` does.

    The graph is that of `load`. The server stops for the import; the empty database is kept until
    the new one is found whole. Cut off anywhere, the same call goes on from there. A corpus that is
    there already is loaded by `load`. Raises DatabaseError where the database has something else,
    and whatever `load` raises.
    """
    began = time.monotonic()
    folders = folders or Folders.from_environment()
    given = list(paths)
    with open_database(folders, echo=echo) as database:
        if not database.connection.embedded:
            raise ConfigurationError(
                "files are imported into the embedded database only",
                hint="Unset NEO4J_URI, or write the files with --bulk-files FOLDER and import them "
                "on the server.",
            )
        if there := bool(database.read("load/language", corpus=corpus)):
            echo(f"There is a corpus {corpus!r} already: loading what is new without files.")
            done = load(
                database,
                given,
                corpus,
                passage_size=passage_size,
                language=language,
                keep_going=keep_going,
            )
        else:
            _check_empty(database)
            procedures = database.read("install/state")[0]["procedures"]
    folder = folders.home / "bulk"
    if there:
        shutil.rmtree(folder, ignore_errors=True)
        return done
    found = find_files(
        given, corpus, passage_size=passage_size, language=language, keep_going=keep_going
    )
    with ImportFiles(folder, corpus, passage_size, _settings(found, language, keep_going)) as files:
        _write(files, found, corpus, language, keep_going)
        account = files.account
        arguments = files.finish(installation(procedures))
        if account.documents:
            echo(f"{account.documents:,} documents are in files; importing them")
            server.ensure(folders, echo=echo)
            server.replace_empty(
                folders,
                folder,
                arguments,
                _check_connection,
                lambda connection: _compare(connection, corpus, account),
                echo=echo,
            )
        shutil.rmtree(folder, ignore_errors=True)
    return _report(account, corpus, found, began)


def write_import_files(
    folder: Path,
    paths: Iterable[str | Path],
    corpus: str,
    *,
    passage_size: int | None = None,
    language: str | None = None,
    keep_going: bool = False,
) -> tuple[LoadReport, str]:
    """Write the files that `load_in_bulk` would import; return the account and the command.

    Nothing is stored in a database. The same call goes on where one was cut off. Raises InputError
    where the folder has other files.
    """
    began = time.monotonic()
    found = find_files(
        paths, corpus, passage_size=passage_size, language=language, keep_going=keep_going
    )
    with ImportFiles(folder, corpus, passage_size, _settings(found, language, keep_going)) as files:
        _write(files, found, corpus, language, keep_going)
        command = files.command(installation(""))
        return _report(files.account, corpus, found, began), command


def _settings(found: InputFiles, language: str | None, keep_going: bool) -> dict[str, object]:
    """Return what decides what is written: options, and the files with their sizes and times."""
    marks = []
    for path in found.files:
        try:
            stat = path.stat()
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", where=shown(path)) from error
        marks.append([str(path), stat.st_size, stat.st_mtime_ns])
    return {"language": language, "keep_going": keep_going, "files": marks}


def _write(
    files: ImportFiles, found: InputFiles, corpus: str, language: str | None, keep_going: bool
) -> None:
    account = files.account
    source = Source(found.files, keep_going, account.source)
    with bar("read", sum(map(size_on_disk, found.files)), bytes_=True) as progress:
        try:
            for batch in batches(corpus, source.documents(progress), files.met()):
                if not account.language:
                    texts = (document.text for document in batch.values())
                    account.language = language or guess_language(texts)
                files.add(batch)
        except InputError as error:
            hint = "Nothing is loaded yet; --keep-going loads the rest without this."
            raise InputError(
                error.what,
                where=error.where,
                hint=f"{error.hint} {hint}" if error.hint else hint,
            ) from error


def _check_connection(connection: Connection) -> None:
    with Database(connection) as database:
        _check_empty(database)


def _check_empty(database: Database) -> None:
    """Raise DatabaseError where the database has more than what an installation makes."""
    others = [row["name"] for row in database.read("install/foreign_indexes")]
    if others or database.read("install/foreign")[0]["nodes"]:
        what = f"the index {others[0]}" if others else "nodes"
        raise DatabaseError(
            f"the database is not empty: it has {what}",
            hint="An import makes the whole database anew. Load without --bulk, or into another "
            "one: KGP_NEO4J_HOME names its folder.",
        )


def _compare(connection: Connection, corpus: str, account: Account) -> None:
    """Raise DatabaseError unless the new database, which is made ready, has what was written."""
    with open_ready(connection) as database:
        stored = database.read("load/content", corpus=corpus)[0]
    for name, count in stored.items():
        expected = account.characters_in if name == "characters" else getattr(account, name)
        if count != expected:
            raise DatabaseError(
                f"{count:,} of {expected:,} {name} were imported",
                hint="The database is as it was. Load without --bulk.",
            )


def _report(account: Account, corpus: str, found: InputFiles, began: float) -> LoadReport:
    source = account.source
    return LoadReport(
        corpus=corpus,
        files=source.files,
        documents=account.documents,
        passages=account.passages,
        characters_in=account.characters_in,
        characters_out=account.characters_out,
        new=account.documents,
        errors=(*map(str, found.errors), *source.errors),
        ignored=tuple(shown(path) for path in found.ignored),
        pages=account.pages,
        tables=account.tables,
        cells=account.cells,
        recognised=account.recognised,
        left_out=tuple(source.left_out),
        seconds=round(time.monotonic() - began, 3),
        language=account.language,
    )
