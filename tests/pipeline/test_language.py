"""A corpus's language: guessed from its text, and what full-text search stems."""

import base64
import random
from pathlib import Path

import pytest
from graphs import rows

from kgp_neo4j import Answer, Database, KgpError, Question
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import list_passages, make_text_index
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.text.words import guess_language
from kgp_neo4j.types.errors import ConfigurationError

_GERMAN = (
    "Die Leuchttürme der Küste wurden von der Gemeinde gebaut und werden noch von ihr erhalten.",
    "Der Hafen hat eine Werft. Die Schiffe kommen im Winter hierher und werden im Frühjahr bemalt.",
    "Im Dorf gibt es zwei Bäckereien, eine Schule und einen Brunnen, der im Sommer leer ist.",
)
_ENGLISH = (
    "The lighthouses of the coast were built by the parish and are kept by it to this day.",
    "The harbour has a shipyard. Ships come here in winter and are painted in the spring.",
    "There are two bakeries in the village, a school, and a well without water in summer.",
)

_POLISH = (
    "Most zbudował w 1911 roku inżynier Jan Kowalski, a łączy on obie części miasta nad rzeką.",
    "Wcześniej mieszkańcy przeprawiali się promem, który był powolny i często się psuł.",
    "We wsi są dwie piekarnie, szkoła oraz studnia, w której latem nie ma wody.",
)
#: Names and numbers, as tables have them: nearest to a language with few texts of its own.
_NAMES = (
    "Rank | Name | Club | Goals\n1 | Andrei Shkabara | Naftan Novopolotsk | 18\n"
    "2 | Vitali Bulyga | Dinamo Minsk | 14\n3 | Aleksandr Hleb | BATE Borisov | 13\n"
    "4 | Renan Bressan | Gomel | 11\n5 | Dzmitry Asipenka | Shakhtyor Soligorsk | 10\n"
    "6 | Uladzimir Karytska | Neman Grodno | 9",
)


def _files(folder: Path, texts: tuple[str, ...]) -> list[Path]:
    for at, text in enumerate(texts):
        (folder / f"{at}.txt").write_text(text, encoding="utf-8")
    return [folder]


def _found(database: Database, corpus: str, text: str) -> list[str]:
    found = PassageRetriever(database, corpus, method="bm25").retrieve(Question("q", text))
    return [passage.text for passage in found.passages]


def _ask_without_reader(database: Database, corpus: str, question: str) -> Answer:
    """Ask in a language of which the offline reader says that it knows none."""
    read = make_pipeline(database, corpus, method="bm25").ask(question)
    assert not read.stated
    assert read.reading is None
    assert "The offline reader knows English; these sentences come nearest." in read.notes
    return read


def test_guessed_from_the_text_and_stemmed(database: Database, corpus: str, tmp_path: Path) -> None:
    assert load(database, _files(tmp_path, _GERMAN), corpus).language == "german"
    assert _found(database, corpus, "Wer hat den Leuchtturm gebaut?")[0] == _GERMAN[0]
    read = _ask_without_reader(database, corpus, "Wer hat die Werft gebaut?")
    assert any("Werft" in sentence.text for sentence in read.sentences)
    # Stop words find nothing, "Schiff" finds "Schiffe", and English endings are left alone.
    for text, count in (("der die das und", 0), ("Schiff", 1), ("winters", 0)):
        assert len(_found(database, corpus, text)) == count, text
    stored = rows(
        database,
        "MATCH (p:Passage {corpus: $c}) RETURN all(l IN collect(labels(p)) "
        "WHERE 'GermanPassage' IN l) AS labelled",
        c=corpus,
    )
    assert stored == [{"labelled": True}]


def test_a_language_without_a_stemmer(database: Database, corpus: str, tmp_path: Path) -> None:
    assert load(database, _files(tmp_path, _POLISH), corpus).language == "other"
    for text, first in (("Kto zbudował most?", [_POLISH[0]]), ("promem", [_POLISH[1]])):
        assert _found(database, corpus, text) == first, text
    _ask_without_reader(database, corpus, "Kto zbudował most?")


_KOREAN = """# 회의록

사람: 김민지
날짜: 2024년 3월

등대는 에이다 스톤이 설계하였다. 나룻배는 다리로 대체되었다.

- 다리의 단점: 바람이 세면 닫힌다.
- 노드의 feature는 길이임.
"""


def test_a_sentence_is_found_by_word_forms(database: Database, corpus: str, tmp_path: Path) -> None:
    load(database, _files(tmp_path, (_KOREAN, *_ENGLISH)), corpus)
    for question, answer in (
        ("회의록을 쓴 사람은 누구인가?", "사람: 김민지"),
        ("등대를 설계한 이는 누구인가?", "등대는 에이다 스톤이 설계하였다."),
        ("다리의 단점은 무엇인가?", "- 다리의 단점: 바람이 세면 닫힌다."),
        ("bridge노드와 노드의 feature는 무엇인가?", "- 노드의 feature는 길이임."),
    ):
        read = make_pipeline(database, corpus, method="bm25").ask(question)
        assert (read.text, read.stated) == (answer, False)
        assert read.sentences[0].score > 0
        (passage,) = [p for p in read.passages if p.id == read.sentences[0].passage]
        assert passage.text[read.sentences[0].start :].startswith(answer)


def test_korean_particles_after_letters(database: Database, corpus: str, tmp_path: Path) -> None:
    texts = ("그래프는 Neo4j를 쓴다. 2024년의 글이다.", "그래프는 종이에 그린다. 2023년의 글이다.")
    load(database, _files(tmp_path, texts), corpus)
    for question in ("Neo4j는?", "Neo4j에서 무엇을?", "2024 나룻배"):
        assert _found(database, corpus, question) == [texts[0]]


def test_given_and_kept(database: Database, corpus: str, tmp_path: Path) -> None:
    folder = _files(tmp_path, _ENGLISH)
    assert load(database, folder, corpus, language="swedish").language == "swedish"
    assert load(database, folder, corpus).language == "swedish"  # the guess would be English
    with pytest.raises(ConfigurationError, match="is in swedish, not german"):
        load(database, folder, corpus, language="german")


@pytest.mark.parametrize("language", ["klingon", "cjk", 'german" CREATE (:Injected) //', ""])
def test_unknown_language(database: Database, corpus: str, tmp_path: Path, language: str) -> None:
    with pytest.raises(ConfigurationError, match="there is no language"):
        load(database, _files(tmp_path, _ENGLISH), corpus, language=language)
    before = rows(database, "SHOW INDEXES YIELD name RETURN collect(name) AS names")
    if language != "cjk":
        with pytest.raises(KgpError, match=r"is no label|analyzer"):
            make_text_index(database, language, language)
    assert rows(database, "SHOW INDEXES YIELD name RETURN collect(name) AS names") == before


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (_GERMAN, "german"),
        (_ENGLISH, "english"),
        (("Le phare a été construit par la commune. " * 6,), "french"),
        (_POLISH, "other"),
        (_NAMES, "english"),
        (("灯塔由市政府建造。" * 30,), "english"),  # these have an index beside the English one
        (("Ein Turm",), "english"),  # too short to tell
        ((), "english"),
    ],
)
def test_guess(texts: tuple[str, ...], language: str) -> None:
    assert guess_language(texts) == language


def test_what_is_no_prose_is_found_by_its_words_and_neither_guessed_from_nor_embedded(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    lines = [base64.b64encode(random.Random(n).randbytes(57)).decode() for n in range(300)]
    (tmp_path / "mail.txt").write_text("\n".join([*lines, "", *_GERMAN]))
    assert load(database, [tmp_path], corpus).language == "german"
    count = len(list_passages(database, corpus))
    assert connect(database, corpus).embedded < count - 15 > 0
    (state,) = database.read("inspect/corpus", corpus=corpus)
    assert (state["passages"], state["unconnected"]) == (count, 0)
    found = make_pipeline(database, corpus).ask(lines[200])
    assert lines[200] in found.passages[0].text
    found = make_pipeline(database, corpus).ask("Was hat der Hafen?")
    assert "Hafen" in found.passages[0].text
