"""Printed shapes of letters become the letters."""

import pytest

from kgp_neo4j.text.shaped import plain_letters


@pytest.mark.parametrize(
    ("shaped", "letters"),
    [
        ("o\ufb03ce, \ufb01rst", "office, first"),
        ("\ufee3\ufef4\ufee8\ufe8e\ufe80", "\u0645\u064a\u0646\u0627\u0621"),
        ("\ufefb\ufe70", "\u0644\u0627\u064b"),
        ("\ufb2a", "\u05e9\u05c1"),
        ("\ufb56\ufb7a\ufb8e", "\u067e\u0686\u06a9"),
        ("x² ½ Ⅷ ㎏ Ａ \ufeff", "x² ½ Ⅷ ㎏ Ａ \ufeff"),
    ],
)
def test_shapes_become_letters_and_nothing_else_changes(shaped: str, letters: str) -> None:
    assert plain_letters(shaped) == letters
