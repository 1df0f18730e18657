"""Questions on pages and tables: what each is about, its look-up, citations and doubts."""

import json
from dataclasses import replace
from typing import Any

import pytest
from asking import Never, answer_structural, ask
from commands import environment, prints
from scripted_model import Scripted
from structured_documents import ferries, harbours, paged, store

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.corpus.tables.reading import Reading
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.llm.chat import writer
from kgp_neo4j.show.terminal import print_said
from kgp_neo4j.types.corpus import Answer, SourceDocument
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.tables import Citation, SourceTable, StructuralAnswer, TypeDecision


@pytest.fixture(scope="module")
def sound(database: Database, shared_corpus: str) -> str:
    """A corpus of two documents with pages and tables, joined by keywords; to be read only."""
    store(database, shared_corpus, ferries(), harbours())
    connect(database, shared_corpus, edges=["tfidf"])
    return shared_corpus


@pytest.mark.parametrize(
    ("question", "values"),
    [
        # Documents and pages.
        ("How many pages does Sound ferries have?", ["4"]),
        ("Which document has the most pages?", ["Sound ferries"]),
        ("What page number is printed on page 3 of Sound ferries?", ["1"]),
        ("What are the headings on page 2 of Sound ferries?", ["Fares"]),
        ("What are the headings of Sound ferries?",
         ["Ferries of the Sound", "Fares", "Boats", "Complaints"]),
        ("What does the next-to-last page of Harbour survey say?",
         ["The survey was made at low tide.\n\n| Quay | Depth |\n| --- | --- |\n| North | 4.1 |\n"
          "| South | 5.5 |"]),
        # Where something is mentioned.
        ("Which pages mention the harbour master?", ["2", "1", "4"]),
        ('Which pages of Sound ferries mention "harbour master"?', ["1", "4"]),
        ("On which page do dogs first appear?", ["1"]),
        ('How many times is "harbour master" mentioned?', ["3"]),
        ("Does page 4 of Sound ferries mention dogs?", ["no"]),
        ("Which pages mention zeppelins?", []),
        # Which tables there are.
        ("How many tables are in Sound ferries?", ["2"]),
        ("Is there a table on page 4 of Sound ferries?", ["no"]),
        ("What are the captions of the tables in Sound ferries?",
         ["Table 1. Fares of the summer season", "Table 2. Boats in service"]),
        ("Which tables have a column called Route?", ["Table 1", "Table 2"]),
        ("Which pages of Sound ferries have tables?", ["2", "3"]),
        ("Which page is Table 2 on?", ["3"]),
        ("Which document has a table about fares?", ["Sound ferries"]),
        ("In Table 1 of Sound ferries, what is the Single fare of Port Merrin?", ["6.00"]),
        # One table.
        ("What are the columns of Table 2?", ["Boat", "Built", "Route"]),
        ("How many rows does the second table of Sound ferries have?", ["2"]),
        ("What is the header of the last column of Table 1 of Sound ferries?", ["Crossings"]),
        ("What is in row 2, column 3 of Table 1?", ["8"]),
        ("List the Route column of Table 2.", ["Kettlehaven", "Port Merrin"]),
        # Two of them.
        ("Which columns do Table 1 and Table 2 of Sound ferries have in common?", ["Route"]),
    ],
)  # fmt: skip
def test_values(database: Database, sound: str, question: str, values: list[str]) -> None:
    answer = answer_structural(database, sound, question)
    assert list(answer.values) == values
    assert answer.sure
    assert answer.found
    assert answer.text
    assert all(citation.document and citation.title for citation in answer.citations)


def test_citations_and_queries(database: Database, sound: str) -> None:
    answer = answer_structural(database, sound, "What is in row 2, column 3 of Table 1?")
    (cell,) = answer.citations
    assert (cell.title, cell.page, cell.table_name) == ("Sound ferries", 2, "Table 1")
    assert (cell.row, cell.row_name, cell.column, cell.column_name, cell.text) == (
        2, "Port Merrin", 3, "Crossings", "8",
    )  # fmt: skip
    assert [query.name for query in answer.queries] == ["structure.outline", "structure.rows"]
    assert answer.queries[-1].parameters["numbers"] == [2]
    for query in answer.queries:
        run = statement(f"structure/{query.name.split('.')[1]}")
        assert (run.mode, run.text) == ("READ", query.cypher)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("What is on page 9 of Sound ferries?", "Sound ferries has no page 9; it has 4 pages."),
        ("Is there a table on page 12?", "no page 12"),
        ("What does Table 7 list?", "Table 1 of Harbour survey (page 1)"),
        ("What is in row 9 of Table 2?", "has no row 9; it has 2 rows"),
        ("What does the table on page 4 of Sound ferries show?", "There is no table on page 4."),
    ],
)
def test_what_is_missing_is_said(database: Database, sound: str, question: str, says: str) -> None:
    answer = answer_structural(database, sound, question)
    assert not answer.found
    assert answer.values == ()
    assert says in answer.text


def test_pages_printed_and_counted_in_one_document_or_all(database: Database, sound: str) -> None:
    counted = answer_structural(database, sound, "What is on page 2 of Sound ferries?")
    assert counted.text.startswith("Fares")
    assert "page 2 as counted; the page printed 2 is page 4" in counted.reading
    printed = answer_structural(database, sound, "What is on page ii of Sound ferries?")
    assert printed.text == counted.text
    answer = answer_structural(database, sound, "What is on page 2?")
    assert [citation.title for citation in answer.citations] == ["Harbour survey", "Sound ferries"]
    assert "Page 2 of Harbour survey" in answer.text
    # Two documents have a Table 1, and one alone prints the number.
    table = answer_structural(database, sound, "What are the columns of Table 1?")
    assert {citation.title for citation in table.citations} == {"Sound ferries"}


def test_differences_of_pages_and_tables(database: Database, sound: str) -> None:
    question = "How do page 1 of Sound ferries and page 1 of Harbour survey differ?"
    answer = answer_structural(database, sound, question)
    assert [(c.title, c.page) for c in answer.citations] == [
        ("Sound ferries", 1), ("Harbour survey", 1),
    ]  # fmt: skip
    assert not answer.sure
    assert "language model" in answer.doubt
    assert "## Page 1 of Harbour survey\n\n" in answer.markdown
    question = "What is the difference between Page 1 of Sound ferries and Table 2?"
    answer = answer_structural(database, sound, question)
    assert {(c.page, c.table_name) for c in answer.citations} == {(1, ""), (3, "Table 2")}
    assert "## Table 2 of Sound ferries\n\n|" in answer.markdown
    asked = "How do page 1 and page 2 of Sound ferries differ?"
    _, prompts = _asked(database, sound, asked, "So.", "So.", "So.")
    assert "## Page 2 of Sound ferries" in prompts[-1]


def test_what_cannot_be_told_is_not_claimed(database: Database, sound: str) -> None:
    several = answer_structural(database, sound, "What does the table show?")
    assert not several.sure
    assert several.text == ""
    assert "there are 3 tables" in several.doubt
    free = answer_structural(database, sound, "Who complains most on page 4 of Sound ferries?")
    assert not free.sure
    assert free.text == ""
    assert free.markdown.startswith("Complaints")


def _asked(
    database: Database, corpus: str, question: str, *replies: str | dict[str, Any]
) -> tuple[StructuralAnswer, list[str]]:
    """Return the answer where a model replies so, and the prompts that it was given."""
    model = Scripted(each if isinstance(each, str) else json.dumps(each) for each in replies)
    answer = answer_structural(database, corpus, question, writer(model))
    assert len(model.prompts) == len(replies)
    return answer, model.prompts


@pytest.mark.parametrize(
    ("choice", "values"),
    [
        ({"kind": "table", "part": "pages", "tables": ["the summer fares"]}, ["2"]),
        ({"kind": "column", "tables": ["Table 1"], "columns": ["single fare"]},
         ["4.50", "6.00", "3.20"]),
        ({"kind": "column", "part": "name", "tables": [1], "columns": [-1]}, ["Crossings"]),
        ({"kind": "row", "tables": ["Table 2"], "rows": ["Gannet"]},
         ["Gannet", "1988", "Port Merrin"]),
        ({"kind": "cell", "tables": ["Table 1"], "rows": ["Port Merrin"], "columns": [3]}, ["8"]),
        ({"kind": "tables", "columns": ["Route"]}, ["Table 1", "Table 2"]),
        ({"kind": "count", "part": "times", "phrase": "harbour master"}, ["2"]),
        ({"kind": "count", "part": "rows", "each": "table", "pick": "most"}, ["Table 1"]),
        ({"kind": "compare", "part": "columns", "tables": ["Table 1", "Table 2"]}, ["Route"]),
    ],
)  # fmt: skip
def test_a_model_chooses_the_look_up(
    database: Database, sound: str, choice: dict[str, Any], values: list[str]
) -> None:
    """The question's words say nothing, so that the values can only come from the choice."""
    given = {"type": "structural", "documents": ["Sound ferries"], **choice}
    answer, prompts = _asked(database, sound, "And what of this?", given)
    assert list(answer.values) == values
    assert answer.citations
    assert all(query.parameters for query in answer.queries)
    assert "And what of this?" in prompts[0]
    assert '"Sound ferries" (4 pages): Table 1 Table 1. Fares of the summer' in prompts[0]


@pytest.mark.parametrize(
    ("reply", "wrong"),
    [
        ("MATCH (n) DETACH DELETE n", "holds no JSON object"),
        ({"type": "structural", "kind": "page", "part": "colour", "pages": [1]}, "part of page"),
        ({"type": "structural", "kind": "page"}, "the look-up page needs pages"),
        ({"type": "structural", "kind": "page", "pages": [{"n": 1}]}, "pages"),
        ({"type": "structural", "kind": "page", "pages": [1], "cypher": "x"}, "cypher"),
        ({"type": "structural", "kind": "page", "pages": [1], "documents": ["Moby Dick"]},
         "there is no document 'Moby Dick'"),
        ({"type": "structural", "kind": "count", "each": "word"}, "each"),
    ],
)  # fmt: skip
def test_a_reply_that_cannot_be_used_is_asked_for_once_more(
    database: Database, sound: str, reply: str | dict[str, Any], wrong: str
) -> None:
    good = {"type": "structural", "kind": "page", "part": "label", "pages": [3],
            "documents": ["Sound ferries"]}  # fmt: skip
    mended, prompts = _asked(database, sound, "And what of this?", reply, good)
    assert mended.values == ("1",)
    assert wrong in prompts[1]
    # Twice wrong: the words of the question choose.
    assert not _asked(database, sound, "And what of this?", reply, reply)[0].values


def test_what_the_words_answer_is_not_asked_of_a_model(database: Database, sound: str) -> None:
    question = "How many rows does Table 1 of Sound ferries have?"
    assert _asked(database, sound, question)[0].values == ("3",)
    # One that is asked all the same, and finds nothing, does not answer.
    nowhere = '{"type": "structural", "kind": "page", "pages": [40]}'
    reading, write = Reading(database, sound, question), writer(Scripted([nowhere]))
    reading.ask(write)
    assert reading.answer(write).values == ("3",)


def test_a_model_answers_from_what_was_fetched(database: Database, sound: str) -> None:
    question = "Who answers the complaints on page 4 of Sound ferries?"
    choice = {"type": "structural", "kind": "question", "pages": [4]}
    reply = "<think>hm</think> The harbour master."
    answer, prompts = _asked(database, sound, question, choice, reply)
    assert answer.text == "The harbour master."
    assert [(c.title, c.page) for c in answer.citations] == [("Sound ferries", 4)]
    assert "Write to the harbour master with any complaint." in prompts[1]
    assert not answer_structural(database, sound, question, lambda _, **options: " ").sure


def test_a_long_table_is_cut_by_rows_and_says_so(database: Database, corpus: str) -> None:
    rows = (("Day", "Boats"), *((f"day {n}", str(n)) for n in range(1, 121)))
    table = SourceTable(rows=rows, caption="Table 1. Boats a day", number="1")
    store(database, corpus, paged("Log", "/made/log.pdf", [["Log of the harbour.", table]]))
    shown = answer_structural(database, corpus, "What does Table 1 show?")
    assert "rows 1-40 of 120 shown" in shown.text
    said, prompts = _asked(database, corpus, "What does Table 1 show?", "Boats a day.")
    assert "rows 1-40 of 120 shown" in said.text
    assert "rows 1-40 of 120 shown" in prompts[0]
    assert "| day 40 | 40 |" in prompts[0]
    assert "day 41" not in prompts[0]


_ODD = (
    "", "?", "page", "Table", "page 0", "page 99999999999999999999999", "pages 1-9999999",
    "Table ''", "What is in row 0, column 0 of Table 1?", 'Which pages mention ""?',
    'Which pages mention "((("?', "Which pages mention [a-z]+*?",
    "last last last page page page table table", "'" * 50, "DOCREF0 PAGEREF7 TABLEREF9 QUOTE3",
    "the second to last and third last table on the page before the last",
    "What is in row 99999999999999999999999 of Table 1 of Sound ferries?",
    "What do the first 9999999999 pages and the last 9999999999 tables say?",
    "Wie viele Seiten? 第三页 \u202e \x00 \U0001f600 page \u0663", "x " * 3000 + "page 2",
)  # fmt: skip


@pytest.mark.parametrize("question", _ODD)
def test_odd_questions_raise_nothing(database: Database, sound: str, question: str) -> None:
    assert isinstance(answer_structural(database, sound, question), StructuralAnswer)


_TYPES = {
    "structural": [
        "What is the difference between Page 1 and Table 2?",
        "In Table 3, which station has the highest average flow rate?",
        "Which pages mention the harbour master?",
        "How many rows does the last table have?",
    ],
    "both": [
        "Who signs the letter on page 3?",
        "Why does Table 2 leave out the third boat?",
        "Which boat has the lowest single fare and most crossings?",
    ],
    "content": [
        "Who designed the bridge that replaced the ferry?",
        "Which country won the most medals in table tennis in 1996?",
        "What is the capital of the country whose flag has three columns of stars?",
    ],
}


@pytest.mark.parametrize(
    ("question", "type_"), [(each, type_) for type_, asked in _TYPES.items() for each in asked]
)
def test_types_of_questions(database: Database, sound: str, question: str, type_: str) -> None:
    decision = Reading(database, sound, question).decision
    assert (decision.type, decision.by) == (type_, "classifier"), decision
    assert decision.reason


def test_a_corpus_without_pages_or_tables_is_about_content(database: Database, corpus: str) -> None:
    store(database, corpus, SourceDocument("Bridges", "No pages here.", "/made/bridges.txt"))

    question, bm25 = "What is on page 3?", PassageRetriever(database, corpus, method="bm25")
    answer = ask(database, corpus, question, bm25)
    assert (answer.type.type, answer.structural) == ("content", None)
    assert "no pages and no tables" in answer.type.reason
    asked = ask(database, corpus, question, Never(), type_="structural", model=Scripted([]))
    assert asked.text == "The corpus has no pages and no tables."
    assert not asked.stated


@pytest.mark.parametrize(
    ("reply", "type_", "by"),
    [
        ('{"type": "structural", "kind": "page", "pages": [2]}', "structural", "model"),
        ('```json\n{"type": "content"}\n```', "content", "model"),
        ('<think>{}</think> {"type": "both", "kind": "question"}', "both", "model"),
        ("", "structural", "classifier"),
        ("[" * 100_000, "structural", "classifier"),
    ],
)
def test_a_model_decides(database: Database, sound: str, reply: str, type_: str, by: str) -> None:
    model = Scripted(lambda _: reply)
    reading = Reading(database, sound, "What is on page 2?")
    reading.ask(writer(model))
    assert (reading.decision.type, reading.decision.by) == (type_, by)
    assert len(model.prompts) == (1 if by == "model" else 2)


_TABLE = "What is the Single fare of Port Merrin in Table 1 of Sound ferries?"
_CONTENT = "Who sells the tickets?"
_FREE = "What may an angry passenger do, by page 4 of Sound ferries?"
_CHOICE = '{"type": "structural", "kind": "question", "pages": [4]}'


@pytest.mark.newest
def test_a_structural_question_needs_no_passages(database: Database, sound: str) -> None:
    answer = ask(database, sound, _TABLE, Never())
    assert (answer.type.type, answer.type.by) == ("structural", "classifier")
    assert (answer.text, answer.agent, answer.passages) == ("6.00", "structure", ())
    [cited] = answer.structural.citations
    assert (cited.title, cited.page, cited.row, cited.column) == ("Sound ferries", 2, 2, 2)
    assert all(query.cypher and query.parameters for query in answer.structural.queries)


@pytest.mark.newest
def test_both_ways_are_gone_where_both_are_meant(database: Database, sound: str) -> None:
    question = "Who sells the tickets, on page 1 of Sound ferries?"
    answer = ask(database, sound, question, PassageRetriever(database, sound), type_="both")
    assert answer.type.by == "option"
    assert not answer.from_structure
    assert any("harbour master sells" in sentence.text for sentence in answer.sentences)
    sure = ask(database, sound, _TABLE, PassageRetriever(database, sound), type_="both")
    assert sure.text == "6.00"
    assert sure.passages


@pytest.mark.newest
def test_the_option_overrides_the_decision(database: Database, sound: str) -> None:
    content = ask(database, sound, _CONTENT, PassageRetriever(database, sound))
    assert (content.type.type, content.structural) == ("content", None)
    assert any("harbour master sells" in sentence.text for sentence in content.sentences)
    answer = ask(database, sound, _TABLE, PassageRetriever(database, sound), type_="content")
    assert answer.structural is None
    assert answer.passages
    structural = ask(database, sound, _CONTENT, Never(), type_="structural")
    assert structural.text == ""
    assert structural.structural.doubt


@pytest.mark.newest
def test_a_model_decides_and_answers(database: Database, sound: str) -> None:
    model = Scripted([_CHOICE, "They may write to the harbour master."])
    answer = ask(database, sound, _FREE, Never(), type_="model", model=model)
    assert answer.type.by == "model"
    assert answer.text == "They may write to the harbour master."
    assert answer.usage.calls == len(model.prompts) == 2
    # Without the option it decides too, where the words do not say that content is asked for.
    later = Scripted([_CHOICE, "They may write to the harbour master."])
    again = ask(database, sound, _FREE, Never(), model=later)
    assert (again.text, again.type.by) == (answer.text, "model")
    content = Scripted(['{"type": "content"}', "Answer: the harbour master [1]"])
    other = ask(database, sound, _FREE, PassageRetriever(database, sound), model=content)
    assert (other.type.type, other.structural) == ("content", None)
    assert len(content.prompts) == 2
    plain = Scripted(["Answer: the harbour master [1]"])
    ask(database, sound, _CONTENT, PassageRetriever(database, sound), model=plain)
    assert len(plain.prompts) == 1
    with pytest.raises(ConfigurationError, match="no language model is there to decide"):
        ask(database, sound, _FREE, Never(), type_="model")


@pytest.mark.newest
@pytest.mark.parametrize(
    ("reply", "text", "doubt"),
    [
        ("Not stated.", "", "does not find it"),
        ("They may write to the king.", "They may write to the king.", "too little"),
        ("They may claim 40 crowns.", "They may claim 40 crowns.", "40"),
    ],
)
def test_what_the_pages_do_not_carry_is_not_stated(
    database: Database, sound: str, reply: str, text: str, doubt: str
) -> None:
    model = Scripted(lambda prompt: _CHOICE if "Choose the look-up" in prompt else reply)
    answer = ask(database, sound, _FREE, Never(), model=model)
    assert (answer.text, answer.stated) == (text, False)
    assert doubt in answer.structural.doubt


@pytest.mark.newest
def test_the_command_shows_decision_cell_and_query(database: Database, sound: str) -> None:
    line, server = ("ask", _TABLE, "--corpus", sound), environment(database.connection)
    shown = prints(*line, **server)
    assert "Question type: structural (by classifier" in shown
    assert "\n  6.00\n" in shown
    assert "Sound ferries, page 2, Table 1, row 2 (Port Merrin), column 2 (Single fare)" in shown
    assert "MATCH (" not in shown
    shown = prints(*line, "--show-query", **server)
    assert "Query (read-only)" in shown
    assert "MATCH (" in shown
    made = json.loads(prints(*line, "--json", **server))
    assert made["structural"]["values"] == ["6.00"]
    assert made["type"]["type"] == "structural"


@pytest.mark.newest
def test_a_tables_text_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "Sky\x1b]0;owned\x07 \u202ebackwards\r"
    citation = Citation("d", hostile, row=1, row_name=hostile, column=1, text=hostile)
    answer = StructuralAnswer(
        hostile, doubt=hostile, reading=hostile, citations=(citation,), markdown=f"| {hostile} |"
    )
    kind = TypeDecision("structural")
    asked = Answer("", "c", "structure", hostile, structural=answer, type=kind)
    print_said(asked)
    said = capsys.readouterr().out
    assert "Sky" in said
    assert not {"\x07", "\u202e", "\r"} & set(said)
    assert "owned" not in said
    likely = StructuralAnswer("3", ("3",), sure=False, confidence=0.71, doubt="Two.")
    print_said(replace(asked, text="3", structural=likely))
    assert "Answer\n  3  probably, 71 %" in capsys.readouterr().out
