"""`kgp-neo4j browser-queries`: the procedures as saved queries, for servers without a plugin."""

import json
import re
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from kgp_neo4j.cli._options import FILE, corpus_option, default_option, graph_option, result_command
from kgp_neo4j.cli._output import print_result, say

_FOLDER = "kgp-neo4j/"


@result_command("browser-queries")
@default_option("--out", Path("kgp-neo4j.zip"), "The file to write.", type=FILE)
@corpus_option(required=False, help="The corpus that the queries ask; demo when none is named")
@graph_option(required=False, help="The knowledge graph that they ask; demo when none is named")
def command(out: Path, corpus: str | None, graph: str | None) -> None:
    """Write the procedures as queries that Neo4j Browser and Aura's Query tool import.

    They need no plugin, and writing them no database. Import the file as saved Cypher, run
    `parameters` first, then any other.
    """
    from kgp_neo4j.environment.disk import replacing
    from kgp_neo4j.graphdb.statements import LANGUAGE, folder

    names = {"CORPUS": corpus or "demo", "GRAPH": graph or "demo"}
    quoted = {mark: json.dumps(name, ensure_ascii=False) for mark, name in names.items()}
    values = files("kgp_neo4j.cypher").joinpath("browser", "parameters.txt").read_text("utf-8")
    values = re.sub("CORPUS|GRAPH", lambda mark: quoted[mark[0]], values)
    queries = {
        procedure.name.removeprefix("kgp."): procedure.text
        for procedure in folder("procedures")
        if procedure.inputs  # all but the list of the procedures
    }
    # A page's number is an integer, a table's is text, and a parameter has one value for all.
    queries["table"] = queries["table"].replace("$number", "$tableNumber")
    # Browser takes a query's name from its first line and makes the folder by the file's path; the
    # Query tool takes the name of the file, and needs the folder as an entry.
    with replacing(out, private=False) as file, ZipFile(file, "w") as archive:
        archive.writestr(ZipInfo(_FOLDER), "")
        archive.writestr(ZipInfo(f"{_FOLDER}parameters.cypher"), values)
        for name, text in queries.items():
            saved = f"// {name}\n{LANGUAGE.strip()}\n{text}\n"
            # All are dated 1980, so that the same queries are the same file.
            archive.writestr(ZipInfo(f"{_FOLDER}{name}.cypher"), saved)
    told = f"Written: {out}, {len(queries)} queries and their parameters"
    print_result({"file": str(out), "queries": list(queries)}, lambda _: say(told))
