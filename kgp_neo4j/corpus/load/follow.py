"""Follow folders: which files are gone from them since they were loaded, and which have moved."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from kgp_neo4j.corpus.load.delete import remove_documents
from kgp_neo4j.environment.files import is_gone, shown
from kgp_neo4j.graphdb.database import Database, Row

#: Whether what files that are gone have left is removed: asked with their names, and whether a
#: folder has no file at all any longer.
Prune: TypeAlias = bool | Callable[[Sequence[str], bool], bool]


class Followed:
    """The folders of a load, by their paths, with the files that are found in them.

    `moved` has the files that are gone from them since the load before, each with the file that
    holds the same now, an empty text for none; `gone` and `pruned` are known after `settle`.
    """

    def __init__(self, database: Database, corpus: str, folders: Mapping[str, set[str]]) -> None:
        self._database, self._corpus, self._folders = database, corpus, folders
        self._before: dict[str, list[str]] = {}
        self._is_noted = False
        self.moved: dict[str, str] = {}
        self.gone: tuple[str, ...] = ()
        self.pruned: tuple[str, ...] = ()
        if folders:
            self._before = {each["folder"]: each["files"] for each in self._read()["folders"]}
        for path, files in self._before.items():
            self.moved |= {
                each: "" for each in files if each not in folders[path] and is_gone(each)
            }

    def _read(self) -> Row:
        names = {"folders": [*self._folders], "gone": [*self.moved]}
        return self._database.read("load/followed", corpus=self._corpus, **names)[0]

    def note(self, kept: Sequence[str] | None = None) -> None:
        """Note the files that the folders have and, of those before, `kept`: first all of them."""
        if self._folders and (kept is not None or not self._is_noted):
            rows = []
            for path, files in self._folders.items():
                before = self._before.get(path, ())
                left = before if kept is None else {*before}.intersection(kept)
                rows.append(
                    {"folder": path, "title": Path(path).name, "files": sorted(files.union(left))}
                )
            self._database.write("load/follow", corpus=self._corpus, folders=rows)
            self._is_noted = True

    def settle(self, prune: Prune) -> None:
        """Take the names that are gone off what is still there, and remove the rest if asked to."""
        lost: dict[str, list[str]] = {}
        left, copies = list[Row](), list[str]()
        for row in self._read()["documents"] if self.moved else ():
            for source in row["gone"]:
                if row["own"]:
                    left.append({"document": row["id"], "source": source})
                elif not row["others"]:
                    lost.setdefault(row["id"], []).append(source)
                self.moved[source] = self.moved[source] or next(iter(row["others"]), "")
            if row["others"] and not row["own"]:
                copies.append(row["id"])
        if left:
            self._database.write("load/place_sources", corpus=self._corpus, left=left, placed=[])
        gone = tuple(sorted({source for sources in lost.values() for source in sources}))
        self.moved = {old: new for old, new in self.moved.items() if new and old not in gone}
        is_empty = any(not files and path in self._before for path, files in self._folders.items())
        names = tuple(shown(Path(source)) for source in gone)
        if gone and (prune(names, is_empty) if callable(prune) else prune and not is_empty):
            self.pruned, copies = names, [*copies, *lost]
        else:
            self.gone = names
        if copies:
            remove_documents(self._database, self._corpus, copies)
        self.note(() if self.pruned else gone)
