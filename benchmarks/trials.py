"""Small inputs of the kinds that people bring: what is right, what is wrong, and how surely.

    python benchmarks/trials.py --half open --json out.json
    python benchmarks/trials.py --half held_out --only direction,tables

Each part is a file of questions in `trials/HALF/` over graphs, tables or a few documents, which are
loaded under names of their own and deleted afterwards. Above is what is stated or probable, over
graphs at least 50 % likely. Coverage is the share of the questions with such an answer, precision
how many of these are right. Over `graphs/` the evidence is 20 triples. Prints Markdown.
"""

import argparse
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import _common as common
from documents import holds

from kgp_neo4j import Corpus, KnowledgeGraph
from kgp_neo4j.evaluate.experiment import (
    OURS,
    GraphDataset,
    Holdings,
    read_graph_questions,
    run_graph_methods,
)
from kgp_neo4j.mindmap.link.name_forms import same
from kgp_neo4j.text.safe import parts
from kgp_neo4j.train.reader_calibration import is_right
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.errors import KgpError
from kgp_neo4j.types.mindmap import MindMap

HERE = Path(__file__).parent
#: The graph of each half whose questions are of one to three steps.
LARGE = {"open": "mountains", "held_out": "software"}
OVER_GRAPHS = ("direction", "negation", "chinese")
PARTS = (*OVER_GRAPHS, "tables", "identifiers", "parts", "not_there")
OUTCOMES = ("right", "wrong above", "wrong below", "refused")
#: Words that an answer in documents may have beside an accepted one.
_MORE_WORDS = 4
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)")
_REFUSAL = re.compile("The graph (?:does not say|holds nothing)|知识图谱(?:没有说明|中没有)")
_POINTS = ("The evidence points most to", "证据最支持")
_UNSURE = ("Not certain", "不确定", *_POINTS)
_PATH = re.compile("By the relation path|依据关系路径")
_LIKELY = re.compile(r"(?:\(|可能性 )(\d+) ?%")
_ABSENT = re.compile(r"\b(?:absen\w+|denie[sd]|not (?:present|counted)|past|gone|else)\b", re.I)
_NOT_THERE = re.compile(r"\b(?:no|not|none|nowhere|nothing|neither)\b", re.I)


def main() -> None:
    """Ask every part's questions and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--half", choices=LARGE, default="open")
    parser.add_argument("--only", type=common.words, default=[*PARTS, "graphs"], metavar="A,B")
    parser.add_argument("--json", type=Path, metavar="FILE", help="gets a row a question")
    given = parser.parse_args()
    if unknown := set(given.only) - {*PARTS, "graphs"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    place, rows = HERE / "trials" / given.half, []
    print(common.described())
    for part in [part for part in PARTS if part in given.only]:
        common.say(part)
        asking = ask_graphs if part in OVER_GRAPHS else ask_documents
        rows += [{"part": part} | row for row in asking(place, part)]
    if rows:
        header = ("part", "asked", *OUTCOMES, "coverage", "precision")
        asked = dict.fromkeys(row["part"] for row in rows)
        print(f"\n{common.markdown(header, [summed(part, rows) for part in asked])}")
    if "graphs" in given.only:
        common.say("graphs")
        large = list(ask_large(LARGE[given.half]))
        header = ("graph", "asked", "linking precision", "recall", "coverage", "hits@1")
        kinds = dict.fromkeys(row["kind"] for row in large)
        told = [(f"{LARGE[given.half]}, {kind}", *of_kind(kind, large)) for kind in kinds]
        print(f"\n{common.markdown(header, told)}")
        rows += large
    if given.json:
        given.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")


def summed(part: str, rows: list[common.Record]) -> tuple[object, ...]:
    """Return a part's line of the table."""
    own = [row for row in rows if row["part"] == part]
    leading = [row for row in own if row["leads"]]
    counts = [sum(row["outcome"] == outcome for row in own) for outcome in OUTCOMES]
    right = [row["outcome"] == "right" for row in leading]
    return (part, len(own), *counts, 100 * len(leading) / len(own), 100 * common.mean(right))


def judged(one: common.Record, said: str, right: bool, leads: bool, refused: bool) -> common.Record:
    """Return the row of a question."""
    wrong = "refused" if refused else OUTCOMES[1 if leads else 2]
    return one | {"said": said, "leads": leads, "outcome": "right" if right else wrong}


# --- Graphs ---


def ask_graphs(place: Path, part: str) -> Iterator[common.Record]:
    """Load the graphs of a part, ask, and yield a row a question."""
    for name, asked in by_name(place / f"{part}.jsonl"):
        file = place / "graphs" / f"{name}.tsv"
        lines = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()[1:]]
        holdings = Holdings(name for line in lines for name in (line[0], line[2]))
        with KnowledgeGraph(f"trials-{place.name}-{name}") as graph:
            with suppress(KgpError):
                graph.delete()
            graph.load([file])
            for one in asked:
                yield judge_map(one, graph.ask(one["question"]), holdings)
            graph.delete()


def judge_map(one: common.Record, answer: MindMap, holdings: Holdings) -> common.Record:
    """Judge an answer over a graph: by its set of names, its number, or yes or no."""
    head = _PATH.split(answer.text)[0].strip()
    if head.startswith(_POINTS):
        head = head.splitlines()[0]
    likely = _LIKELY.search(answer.text)
    refused = bool(_REFUSAL.match(head))
    unsure = head.startswith(_UNSURE) or (likely is not None and int(likely[1]) < 50)
    first = one["answers"][0]
    bare = head.removeprefix("Not certain:").removeprefix("不确定：").strip()
    if first in ("yes", "no", "是", "否"):
        right = re.split(r"\W", bare.lower())[0] == first
    elif first.isdigit():
        right = _NUMBER.findall(bare)[:1] == [first]
    else:
        wanted = {same(name) for name in one["answers"]}
        asked = set(holdings.named(one["question"])) - wanted
        right = set(holdings.named(bare)) - asked == wanted
    lines = [*answer.text.splitlines(), *answer.notices]
    for names in one.get("absent", ()):
        right &= any(_ABSENT.search(line) and holds(line, names) for line in lines)
    row = judged(one, head, right and not refused, not (refused or unsure), refused)
    return row | {"likely": int(likely[1]) if likely else None, "notices": answer.notices}


def ask_large(name: str) -> Iterator[common.Record]:
    """Load a large graph, ask as `kgp-neo4j evaluate` does, and yield a row a question."""
    questions = read_graph_questions(HERE / "graphs" / f"{name}.jsonl")
    with KnowledgeGraph(f"trials-{name}") as graph, TemporaryDirectory() as out:
        with suppress(KgpError):
            graph.delete()
        graph.load([HERE / "graphs" / f"{name}.tsv"])
        dataset = GraphDataset(name, graph.name, tuple(questions))
        result = run_graph_methods(graph.database, dataset, [OURS], Path(out), budget=20)
        files = (Path(out, f"{name}.jsonl") for name in ("linking", OURS))
        links, runs = ({row["id"]: row for row in common.read_lines(file)} for file in files)
        graph.delete()
    for one in questions:
        names = links[one.id]["entities"]
        linked = [f"{each['surface']} → {each['name']}" for each in names if each["id"]]
        row = {"part": "graphs", "kind": one.kind, "question": one.text, "answers": one.answers}
        measured = result.linking.measures[one.id] | result.runs[OURS].measures[one.id]
        yield row | {"links": linked, "first": runs[one.id]["first"]} | measured


def of_kind(kind: str, rows: list[common.Record]) -> tuple[object, ...]:
    """Return the figures of the questions of one kind over a large graph."""
    own = [row for row in rows if row["kind"] == kind]
    linked, listed, right = (sum(row[key] for row in own) for key in ("linked", "listed", "right"))
    shares = [common.mean(row[key] for row in own) for key in ("coverage", "hits@1")]
    told = (right / max(linked, 1), right / max(listed, 1), *shares)
    return (len(own), *(f"{share:.3f}" for share in told))


# --- Documents ---


def ask_documents(place: Path, part: str) -> Iterator[common.Record]:
    """Load the documents of a part, a corpus for each group, ask, and yield a row a question."""
    for name, asked in by_name(place / f"{part}.jsonl"):
        with TemporaryDirectory() as folder, Corpus(f"trials-{place.name}-{part}-{name}") as corpus:
            with suppress(KgpError):
                corpus.delete()
            files = [str(file) for file in written(place, name, Path(folder))]
            try:
                corpus.load(files)
                corpus.connect()
            except KgpError as error:
                yield from (judged(one, str(error), False, False, True) for one in asked)
                continue
            yield from (judge_answer(one, corpus.ask(one["question"]), part) for one in asked)
            corpus.delete()


def written(place: Path, name: str, folder: Path) -> Iterator[Path]:
    """Yield the files of a group: as they are, or made from a family or sheets in JSON."""
    yield from place.glob(f"tables/{name}")
    yield from sorted(place.glob(f"documents/{name}/*"))
    for file in place.glob(f"families/{name}.json"):
        family = json.loads(file.read_text(encoding="utf-8"))
        for at, values in enumerate(family["rows"], 1):
            cells = dict(zip(family["columns"], values, strict=True))
            made = folder / f"{name}{at}.md"
            made.write_text("\n\n".join(family["text"]).format(**cells) + "\n", encoding="utf-8")
            yield made
    for file in place.glob(f"sheets/{name}.json"):
        from openpyxl import Workbook

        book, made = Workbook(), folder / f"{name}.xlsx"
        for row in json.loads(file.read_text(encoding="utf-8")):
            book.worksheets[0].append(row)
        book.save(made)
        yield made


def judge_answer(one: common.Record, answer: Answer, part: str) -> common.Record:
    """Judge an answer in documents: by its values, by an accepted span, part by part."""
    refused, leads = answer.tier == "none", answer.tier in ("stated", "probable")
    structural = answer.structural
    values = structural.values if structural and answer.from_structure else (answer.text,)
    lines = (answer.text, answer.summary, *answer.notes)
    told = all(
        any(_NOT_THERE.search(line) and holds(line, names) for line in lines)
        for names in one.get("missing", ())
    )
    if "parts" in one:
        right = not refused and told and all(holds(answer.text, part) for part in one["parts"])
    elif one["answers"]:
        said = ", ".join(values)
        right = not refused and any(is_same(said, accepted) for accepted in one["answers"])
    elif one.get("missing"):
        right = told and (not leads or bool(_NOT_THERE.search(answer.text)))
    else:
        right = refused or (part == "tables" and not leads)
    row = judged(one, answer.text, right, leads, refused)
    cited = sorted({p.title for p in answer.passages if p.id in answer.rests_on})
    told = parts(answer, "tier", "probably", "by", "notes") | {"cited": cited, "values": values}
    return row | told | {"structural": structural and structural.text}


def is_same(said: str, wanted: str) -> bool:
    """Return whether a text is an accepted one: the same number, or words with few others."""
    if _NUMBER.fullmatch(wanted):
        found = [float(number.replace(",", "")) for number in _NUMBER.findall(said)]
        return len(found) == 1 and abs(found[0] - float(wanted.replace(",", ""))) < 0.006
    return is_right(said, [wanted]) and len(said.split()) <= len(wanted.split()) + _MORE_WORDS


def by_name(file: Path) -> list[tuple[str, list[common.Record]]]:
    """Return the questions of a part by what they are asked over, in the file's order."""
    rows = common.read_lines(file)
    names = dict.fromkeys(row["over"] for row in rows)
    return [(name, [row for row in rows if row["over"] == name]) for name in names]


if __name__ == "__main__":
    main()
