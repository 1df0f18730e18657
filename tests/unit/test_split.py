"""Sentences and passages tile their text, whatever the text is."""

from __future__ import annotations

import random

import pytest

from kgp_neo4j.corpus.load.split import passages, sentences

_ALPHABET = [
    *"abcdefgh  XYZ", ". ", "! ", "?\n", "\n", "\n\n", "\r\n", "\t", "...", ".)", '."', "Dr. ",
    "U.S. ", "e.g. ", "3.14", "# ", "\n## Heading\n", "- ", "\n1. ", "`", "{", "}", "'", '"', "$",
    "é", "e\u0301", "\u200b", "\u200d", "\u200c", "\ufeff", "\u2028", "\x85", "\x00", "\x0c",
    "。", "これは文", "！", "؟ ", "।", "नमस्ते", "ﷺ", "한국어", "\u1112\u1161\u11ab",
    "👨‍👩‍👧‍👦", "👍🏽", "🇩🇪",
    "🇫🇷🇮🇹", "𝔘𝔫𝔦", "Elmham.The", "RETURN 1;", "+ - && || ! ( )", "x" * 40,
]  # fmt: skip


def _texts(count: int) -> list[str]:
    made = random.Random(20261121)
    texts = []
    for _ in range(count):
        some = made.sample(_ALPHABET, made.randint(1, 12))
        texts.append("".join(made.choices(some, k=made.randint(1, 300))))
    # Any character at all but half surrogate pairs, which no UTF-8 text has.
    points = [p for p in range(0x110000) if not 0xD800 <= p <= 0xDFFF]
    texts += ["".join(map(chr, made.choices(points, k=400))) for _ in range(count // 5)]
    return texts


def _passages(text: str, size: int) -> list[str]:
    return [text[start:end] for start, end in passages(text, size)]


def test_passages_and_sentences_tile_every_text() -> None:
    made = random.Random(7)
    for text in _texts(1500):
        size = made.choice((1, 2, 7, 20, 60, 200, 1000))
        found = _passages(text, size)
        assert "".join(found) == text
        for each in found:
            assert len(each.strip()) <= size
            assert each.strip() or not text.strip()
        # White space belongs to the passage before.
        assert not any(each[0].isspace() for each in found[1:])
        places = sentences(text)
        assert "".join(text[start:end] for start, end in places) == text
        assert all(start < end for start, end in places)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One. ", "Two! ", "Three?"]),
        ("Dr. Smith met Mrs. Jones. They spoke.", ["Dr. Smith met Mrs. Jones. ", "They spoke."]),
        ("The U.S. Army came. It left.", ["The U.S. Army came. ", "It left."]),
        ("Bring fruit, e.g. apples. Go.", ["Bring fruit, e.g. apples. ", "Go."]),
        ("It is 3.14 or No. 5 of pp. 7-9. Yes.", ["It is 3.14 or No. 5 of pp. 7-9. ", "Yes."]),
        ("J. R. R. Tolkien wrote. I read.", ["J. R. R. Tolkien wrote. ", "I read."]),
        ("Acme Inc. was sold. Bought by Foo Ltd. The end.",
         ["Acme Inc. was sold. ", "Bought by Foo Ltd. ", "The end."]),
        ('"Why?" he asked. "No." She left.', ['"Why?" he asked. ', '"No." ', "She left."]),
        ("Yahoo! is a firm. Wait... what?", ["Yahoo! is a firm. ", "Wait... what?"]),
        ("A bishop of Elmham.The date is", ["A bishop of Elmham.", "The date is"]),
        ("See Node.js and kgp.neo4j.Driver now.", ["See Node.js and kgp.neo4j.Driver now."]),
        ("这是一句。那是两句！对吗？", ["这是一句。", "那是两句！", "对吗？"]),
        ("「これ。」と言った。終わり", ["「これ。」", "と言った。", "終わり"]),
        ("ما هذا؟ هذا كتاب. نعم", ["ما هذا؟ ", "هذا كتاب. ", "نعم"]),
        ("यह है। वह है।", ["यह है। ", "वह है।"]),
        ("# Title\nBody.\n\n- one\n- two", ["# Title\n", "Body.\n\n", "- one\n", "- two"]),
        ("1. First comes first.\n2. Second", ["1. First comes first.\n", "2. Second"]),
        ("", []),
        (" \n\n ", [" \n\n "]),
    ],
)  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_passages_hold_whole_sentences() -> None:
    text = "".join(f"This is sentence number {n} of the text. " for n in range(100))
    found = _passages(text, 200)
    assert all(p.startswith("This") and p.endswith(". ") for p in found)
    assert all(120 < len(p.strip()) <= 200 for p in found[:-1])


def test_passages_prefer_paragraphs_and_keep_headings_with_their_text() -> None:
    paragraph = "Some words stand here. More words stand there.\n\n"
    found = _passages(paragraph * 4 + "## Next\n\n" + paragraph * 6, 250)
    assert all(p.endswith("\n\n") for p in found)
    assert not any(p.rstrip().endswith("## Next") for p in found)
    assert any(p.startswith("## Next") for p in found)
    plain = _passages(
        "First words of it. " * 11 + "\n\nA heading alone\n\n" + "And text. " * 9, 240
    )
    assert [p[:9] for p in plain] == ["First wor", "A heading"]


def test_a_long_sentence_is_cut_at_a_clause_else_a_space_else_anywhere() -> None:
    clauses = _passages("when this happens then, " * 20, 100)
    assert all(p.rstrip().endswith(",") for p in clauses)
    words = _passages("word " * 100, 33)
    assert all(p.endswith("word ") for p in words)
    letters = _passages("x" * 250, 100)
    assert [len(p) for p in letters] == [100, 100, 50]


@pytest.mark.parametrize(
    "cluster", ["e\u0301\u0302", "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "\u1112\u1161\u11ab", "क्षि"]
)
def test_what_reads_as_one_character_is_not_cut(cluster: str) -> None:
    for size in range(len(cluster), 4 * len(cluster)):
        for each in _passages(cluster * 40, size):
            assert len(each) % len(cluster) == 0, (size, each)
