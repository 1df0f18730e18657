"""Sentences and passages tile their text, whatever the text is."""

import base64
import random

import pytest

from kgp_neo4j.corpus.load.split import passages, sentences
from kgp_neo4j.text.words import is_prose

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


@pytest.mark.parametrize(
    "text",
    [
        " " * 99_999,
        f"Here it begins. {' ' * 99_999}Here it ends.",
        "\u200b" * 99_999,
        "\u200d" * 99_999,
        "e" + "\u0301" * 9_999,
        "🇩" * 99_999,
        base64.b64encode(random.Random(1).randbytes(75_000)).decode(),
    ],
    ids=lambda text: ascii(text[:2]),
)
def test_passages_end_by_size_in_what_is_no_text(text: str) -> None:
    found = _passages(text, 1_000)
    assert "".join(found) == text
    assert max(map(len, found)) <= 2_000
    assert len(found) <= len(text) // 1_000 + 3


_BYTES = random.Random(2).randbytes(600)
_BASE64 = base64.b64encode(_BYTES).decode()


@pytest.mark.parametrize(
    "text",
    [
        _BASE64,
        "\n".join(_BASE64[at : at + 76] for at in range(0, len(_BASE64), 76)),
        "\n".join(f"{at:08x}  {_BYTES[at : at + 16].hex(' ')}" for at in range(0, 600, 16)),
        "".join(f'!function(e,t){{"use"==typeof e?t.a{n}=e:e.b({n})}}(this,d);' for n in range(20)),
        "".join(f"2026-01-0{n} 12:00:0{n} INFO [m-{n}] a.b.C - id={n} t={n}\n" for n in range(9)),
        "x" * 900,
        " \n\u200b" * 300,
    ],
    ids=["base64", "mail", "hex", "minified", "log", "run", "blank"],
)  # fmt: skip
def test_what_only_machines_read_is_no_prose(text: str) -> None:
    assert not is_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "The harbour of Lyme has four piers; the dues are 12.40 a metre.",
        "| 12 | 34,5 | 0x1f |\n|----|------|------|\n| 78 | 90,1 | 0x2e |\n" * 9,
        "12 34 56 78 90 11 22\n" * 20,
        "1. Harbours " + "." * 90 + " 12\n2. Ferries " + "." * 90 + " 34\n",
        "北京大学在海淀区，是中国的一所综合性大学。" * 20,
        "ประเทศไทยเป็นประเทศที่อยู่ในเอเชียตะวันออกเฉียงใต้" * 9,
        r"$$\frac{\partial^2u}{\partial x^2}=\sum_{i=1}^{n}\alpha_i\int_0^1f(x)dx$$ " * 9,
        "Theharbourofficewasbuiltin,anditisstillthereasonwhypeoplecomehere. " * 9,
        "[12/05/26, 13:45:10] Ada: The ferry leaves at noon, doesn't it?\n" * 9,
        "def load(paths: list[str]) -> None:\n    for path in paths:\n        read(path)\n" * 9,
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 " * 5,
    ],
)
def test_what_people_read_is_prose(text: str) -> None:
    assert is_prose(text)
