"""Reads RDF as entities and triples: labels are names, classes are types, literals are values.

Nothing is fetched: of a JSON-LD context that lies elsewhere, each key is a name of its own.
"""

import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote
from xml.sax import SAXParseException

from kgp_neo4j.environment.files import Value, opened, shown, text_lines
from kgp_neo4j.environment.job import Progress
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.mindmap.link.name_forms import Fact, NamedEntity, Record, key_of
from kgp_neo4j.mindmap.load.graph_files import RDF_KINDS, kind_of
from kgp_neo4j.types.errors import InputError

with needs("rdf", "RDF", InputError):
    from rdflib import OWL, RDF, RDFS, BNode, Dataset, Literal, URIRef
    from rdflib.exceptions import ParserError
    from rdflib.plugins.parsers.jsonld import to_rdf
    from rdflib.plugins.parsers.notation3 import BadSyntax
    from rdflib.plugins.parsers.ntriples import W3CNTriplesParser
    from rdflib.store import Store

#: Relative names are read as if they stood here.
_BASE = "http://here/"
#: Stands for a JSON-LD context that lies elsewhere, and for none.
_OWN_KEYS = {"@vocab": f"{_BASE}keys#", "id": "@id", "type": "@type"}
#: Local names of the properties that hold names, best first, and other names.
_NAMES, _OTHERS = ["prefLabel", "label", "name"], ["altLabel", "hiddenLabel", "alternateName"]
#: A longer literal is a text, not a value that a question asks for.
_LONGEST_VALUE = 300
#: What stands before an error in RDF/XML: the file's address, the line and the column.
_PLACE = re.compile(r"\S*?:(\d+):\d+: ")
#: Forms that have another name than rdflib gives them.
_FORMS = {"xml": "RDF/XML", "json-ld": "JSON-LD"}
#: The name of a graph at the end of a line of N-Quads, and its characters at most.
_NAME_SIZE = 1_000
_GRAPH = re.compile(r"\s*(?:<[^<>]*>|_:\S+)\s*\.\s*$")
#: Types that say nothing of a thing; others of these vocabularies make it a part of a schema.
_THINGS = {OWL.NamedIndividual, OWL.Thing, RDFS.Resource, RDF.List, RDF.Seq, RDF.Bag, RDF.Alt}
_ABOUT_THINGS = {RDFS.label, RDFS.comment, RDFS.seeAlso, RDFS.isDefinedBy, RDFS.member, OWL.sameAs}


class _Triple(NamedTuple):
    subject: Any
    predicate: Any
    value: Any
    where: str


class _Collected(Store):
    """Takes the triples of a parser, in their order, and keeps no index of them."""

    context_aware = graph_aware = True

    def __init__(self, triples: list[_Triple], where: str) -> None:
        super().__init__()
        self.found, self.where = triples, where

    def add(self, triple: Any, context: Any = None, quoted: bool = False) -> None:
        self.triple(*triple)

    def triple(self, subject: Any, predicate: Any, value: Any) -> None:
        """Take a triple of a line."""
        self.found.append(_Triple(subject, predicate, value, self.where))

    def add_graph(self, graph: Any) -> None:
        """Take no note of a graph's name."""

    def namespaces(self) -> Iterator[Any]:
        """Return none: an IRI is shortened to its last part."""
        return iter(())


def read_rdf(paths: Sequence[Path], progress: Progress) -> Iterator[Record]:
    """Yield the entities and triples of files, which may describe the same things.

    An InputError stands for each bad line of N-Triples and N-Quads, and for where another file
    cannot be read any further; what stands in front of it is read.
    """
    logging.getLogger("rdflib").setLevel(logging.ERROR)  # a number that is none stays a text
    triples: list[_Triple] = []
    for path in paths:
        try:
            with opened(path, progress) as file:
                yield from _parse(file, path, triples)
        except InputError as error:
            yield error
    yield from _Described(triples).records()


def _parse(file: IO[bytes], path: Path, triples: list[_Triple]) -> Iterator[InputError]:
    name, form = shown(path), RDF_KINDS[kind_of(path)]
    store = _Collected(triples, name)
    try:
        if form in ("nt", "nquads"):
            yield from _parse_lines(text_lines(file, path, "utf-8"), store)
        elif form == "json-ld":
            data = _with_own_keys(json.loads(file.read()))
            to_rdf(data, Dataset(store), base=_BASE, context_data=_OWN_KEYS)
        else:
            Dataset(store).parse(file=file, format=form, publicID=_BASE)  # type: ignore[arg-type]
    except (LookupError, TypeError, AttributeError, RecursionError, ValueError) as error:
        yield _unreadable(error, name, form)
    except (BadSyntax, SAXParseException, ParserError) as error:
        yield _unreadable(error, name, form)


def _unreadable(error: Any, name: str, form: str) -> InputError:
    """Return what is wrong with a file, by what its parser raised."""
    line: int | None = None
    reason: str | None = "a part of it is not what it has to be"  # others speak of Python
    match error:
        case BadSyntax():
            line, reason = error.lines + 1, error._why
        case SAXParseException():
            line, reason = error.getLineNumber(), error.getMessage()
        case json.JSONDecodeError():
            line, reason = error.lineno, error.msg
        case UnicodeDecodeError():
            line, reason = error.object.count(b"\n", 0, error.start) + 1, "no UTF-8 text"
        case ParserError():
            reason = str(error)
            if place := _PLACE.match(reason):
                line, reason = int(place[1]), reason[place.end() :]
        case ValueError():
            reason = str(error)
    where = f"{name}:{line}" if line else name
    hint = "Save it as UTF-8." if isinstance(error, UnicodeDecodeError) else None
    return InputError(f"not {_FORMS.get(form, form)} ({reason})", where=where, hint=hint)


def _parse_lines(lines: Iterator[Value], store: _Collected) -> Iterator[InputError]:
    parser, nodes = W3CNTriplesParser(store), dict[str, BNode]()  # type: ignore[arg-type]
    for line, store.where in lines:
        if isinstance(line, InputError):
            yield line
            continue
        graph = _GRAPH.search(line, max(0, len(line) - _NAME_SIZE))
        # The fourth part of N-Quads is the graph, which does not count.
        for form in (line, f"{line[: graph.start()]} ." if graph else "."):
            try:
                parser.parsestring(form, bnode_context=nodes)
                break
            except (ParserError, ValueError):
                pass
        else:
            reason = f"no triple: {line.strip()[:60]!r}"
            yield InputError(reason, where=store.where, hint="A line is: <...> <...> <...> .")


def _with_own_keys(value: Any) -> Any:
    """Return JSON-LD in which no context has to be fetched."""
    if isinstance(value, list):
        return [_with_own_keys(each) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _with_own_keys(each) for key, each in value.items() if key != "@import"}
    if isinstance(context := inner.get("@context"), str | list):
        each = context if isinstance(context, list) else [context]
        inner["@context"] = [_OWN_KEYS if isinstance(one, str) else one for one in each]
    return inner


def _local(iri: str) -> str:
    """Return the last part of an IRI, with the one in front of it where it is a number."""
    parts = [unquote(part) for part in re.split(r"[#/:]+", iri.rstrip("#/"))]
    return " ".join(parts[-2:] if parts[-1].isdecimal() else parts[-1:])


def _readable(local: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", local.replace("_", " "))


def _is_schema(iri: Any) -> bool:
    return str(iri).startswith((str(RDFS), str(OWL), str(RDF)))


def _is_place(predicate: Any) -> bool:
    """Return whether a property joins a list or a container to its members."""
    return predicate in (RDF.first, RDF.rest) or str(predicate).startswith(f"{RDF}_")


def _is_foreign(value: Any) -> bool:
    return isinstance(value, Literal) and not (value.language or "en").startswith("en")


class _Described:
    """What the triples of all files say of each node."""

    def __init__(self, triples: Sequence[_Triple]) -> None:
        self.types: defaultdict[Any, list[Any]] = defaultdict(list)
        self.own: defaultdict[Any, list[_Triple]] = defaultdict(list)
        #: Whether a name is not in English though it says so, its rank, and the name.
        self.labels: defaultdict[Any, list[tuple[bool, int, str]]] = defaultdict(list)
        #: For each blank node the triple that leads to it first.
        self.above: dict[Any, _Triple] = {}
        self.schema: set[Any] = set()
        self.names: dict[Any, str] = {}
        self.taken: dict[str, Any] = {}
        #: The last number that tells blank nodes apart, by the key of their name.
        self.numbered: dict[str, int] = defaultdict(lambda: 1)
        names = [*_NAMES, *_OTHERS]
        for triple in triples:
            subject, predicate, value, _ = triple
            if predicate == RDF.type:
                self.types[subject].append(value)
            elif isinstance(value, Literal) and (local := _local(predicate)) in names:
                rank = names.index(local)
                late = _is_foreign(value) or local in _OTHERS
                self.labels[subject].append((late, rank, str(value)))
            else:
                self.own[subject].append(triple)
                if isinstance(value, BNode):
                    self.above.setdefault(value, triple)
            about = predicate in _ABOUT_THINGS or str(predicate).startswith(str(RDF))
            if _is_schema(value if predicate == RDF.type else predicate) and not (
                value in _THINGS if predicate == RDF.type else about
            ):
                self.schema.add(subject)

    def records(self) -> Iterator[Record]:
        """Yield the entities, each with its types and other names, and then the triples."""
        every = dict.fromkeys((*self.types, *self.labels, *self.own))
        nodes = [each for each in every if each not in self.schema and not self._passes_on(each)]
        for node in nodes:
            aliases = [text for *_, text in sorted(self.labels.get(node, ()))]
            aliases += [_readable(_local(node))] if isinstance(node, URIRef) else []
            for type_ in [each for each in self.types.get(node, ()) if each not in _THINGS] or [""]:
                yield NamedEntity(self._name(node), str(node), self._kind(type_), tuple(aliases))
        for node in nodes:
            own = [
                t
                for t in self.own.get(node, ())
                if not _is_schema(t.predicate) or _is_place(t.predicate) or t.predicate == RDF.value
            ]
            known = {triple.predicate for triple in own if not _is_foreign(triple.value)}
            for _, predicate, value, where in own:
                if _is_foreign(value) and predicate in known:
                    continue
                for each in self._values(value):
                    name = self._name(each)
                    if len(name) > _LONGEST_VALUE:
                        name, where = "", f"{where} ({len(name):,} characters of text)"
                    yield Fact(self._name(node), self._relation(predicate), name, where)

    def _passes_on(self, node: Any) -> bool:
        """Return whether a blank node is but a list, or stands for the one literal that it has."""
        own = self.own.get(node, ())
        if not (own and isinstance(node, BNode) and node in self.above):
            return False
        alone = len(own) == 1 and isinstance(own[0].value, Literal) and node not in self.labels
        return alone or all(_is_place(triple.predicate) for triple in own)

    def _values(self, value: Any) -> Iterator[Any]:
        left, seen = [value], set()
        while left:
            node = left.pop()
            if not self._passes_on(node):
                yield from () if node == RDF.nil else (node,)
            elif node not in seen:
                seen.add(node)
                left += [triple.value for triple in reversed(self.own[node])]

    def _kind(self, node: Any) -> str:
        return min(self.labels[node])[2] if node in self.labels else _local(node)

    def _relation(self, node: Any) -> str:
        """Return a property's local name, or its label where that says nothing (P31)."""
        local = _local(node)
        return self._kind(node) if re.fullmatch(r"[A-Za-z]{0,3}_?\d+", local) else local

    def _name(self, node: Any) -> str:
        """Return the name of a node, which no other node has."""
        if isinstance(node, Literal):
            return str(node)
        if node in self.names:
            return self.names[node]
        local = _local(node)
        if node in self.labels:
            name = min(self.labels[node])[2]
        elif isinstance(node, URIRef):
            name = _readable(local)
        else:
            self.names[node] = "node"  # blank nodes may lead to each other
            above = self.above.get(node)
            kind = self.types[node][0] if self.types.get(node) else above and above.predicate
            name = _readable(self._kind(kind)) if kind else "node"
            name += f" of {self._name(above.subject)}" if above else ""
        apart, key = name, key_of(name)
        more = self.numbered[key] if isinstance(node, BNode) else 1
        while self.taken.setdefault(key_of(apart), node) != node:
            more += 1
            told = more if isinstance(node, BNode) else local if more == 2 else node
            apart = f"{name} ({told})"
        if isinstance(node, BNode):
            self.numbered[key] = more
        self.names[node] = apart
        return apart
