"""What a cell's text means."""

import pytest

from kgp_neo4j.text.values import Value, column_type, notations, typed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", Value("text")),
        ("Bergen", Value("text")),
        ("12,467", Value("number", 12467.0)),
        ("−3.5", Value("number", -3.5)),
        ("(12)", Value("number", -12.0)),
        (".5", Value("number", 0.5)),
        ("1998", Value("number", 1998.0, "1998")),
        ("48,278[1]", Value("number", 48278.0)),
        ("82.06 m", Value("number", 82.06, unit="m")),
        ("1.2e-07", Value("number", 1.2e-07)),
        ("₹12,34,567.50", Value("currency", 1234567.5, unit="INR")),
        ("1’234.50", Value("number", 1234.5)),
        ("1:56.42", Value("number", 116.42, unit="s")),
        ("1:39:00", Value("number", 5940.0, unit="s")),
        ("12.5%", Value("percentage", 12.5, unit="%")),
        ("$1.2 million", Value("currency", 1_200_000.0, unit="USD")),
        ("40 €", Value("currency", 40.0, unit="EUR")),
        ("1998-05-12", Value("date", 1998.0, "1998-05-12")),
        ("12 May 1998", Value("date", 1998.0, "1998-05-12")),
        ("Tuesday, May 12, 1998", Value("date", 1998.0, "1998-05-12")),
        ("May 1998", Value("date", 1998.0, "1998-05")),
        ("5/12/98", Value("date", 1998.0, "1998-05-12")),
        ("12.05.1998", Value("date", 1998.0, "1998-05-12")),
        ("September 4", Value("date", None, "--09-04")),
        ("1887-1905", Value("text", 1887.0, "1887", "-1905")),
        ("1982/83", Value("text", 1982.0, "1982", "/83")),
        ("2004–present", Value("text", 2004.0, "2004", "–present")),
        ("W 35-14", Value("text")),
    ],
)
def test_a_text_means(text: str, value: Value) -> None:
    assert typed(text) == value
    assert typed(f"  {text}\n") == value


def test_dates_sort_as_text() -> None:
    texts = ["1887-1905", "1998", "May 1998", "12 May 1998", "June 3, 1998", "2001"]
    assert sorted(texts[3:] + texts[:3], key=lambda text: typed(text).date or "") == texts


def test_a_column_has_the_type_of_four_fifths_of_its_cells() -> None:
    assert column_type(["1", "2", "3", "4", "n/a", ""]) == "number"
    assert column_type(["1", "2", "3", "n/a"]) == "text"
    assert column_type(["5%", "7.5 %"]) == "percentage"
    assert column_type([]) == column_type(["", " "]) == "text"


@pytest.mark.parametrize("text", ["9" * 400, "1," * 500, "\ud800", "1998-99-99", "32/13/1999", "٣"])
def test_odd_texts_do_not_fail(text: str) -> None:
    value = typed(text)
    assert value.number is None or abs(value.number) < 1e300


@pytest.mark.parametrize(
    ("columns", "marks"),
    [
        ([["12,40", "9,85"], ["2.350", "980"]], [",", ","]),  # what one column tells
        ([["2.350 t", "980 t", "1.120 t"]], [","]),  # like in size
        ([["2.350", "3", "1"]], ["."]),
        ([["2.350 t", "120 t"]], ["?"]),
        ([["2.350", "1.120"]], ["."]),
        ([["1,120", "980"], ["1.234.567", "x"]], [",", ","]),
        ([["2.350", "120"], ["Hesk, 12,5", "a"]], ["?", "."]),  # prose tells nothing
        ([["1\u202f234,5 €"], ["12’500.25"], ["192.168.100.200"]], [",", ".", "."]),
        ([["05/03/2024", "25/03/2024 14:30"], ["1/2/24"], ["03/25/2024"]], ["./", ".", "."]),
        ([["05/03/2024", "25/03/2024"], ["1/2/24"], ["1/2/24"]], ["./", "./", "./"]),
    ],
)
def test_the_notation_is_judged_by_the_column(columns: list[list[str]], marks: list[str]) -> None:
    assert notations(columns) == marks


def test_a_number_is_read_in_the_notation_of_its_column() -> None:
    assert typed("2.350 t", ",") == Value("number", 2350.0, unit="t")
    assert typed("€ 1.234,50", ",") == Value("currency", 1234.5, unit="EUR")
    assert typed("12.05.2024 9:30", ",").date == "2024-05-12"
    assert typed("05/03/2024", "./").date == "2024-03-05"
    assert [typed(f"1{mark}234,56", ",").number for mark in " \u00a0\u202f'’"] == [1234.56] * 5
    addresses = ("1.2.3.4", "10.0.0.1", "192.168.100.200", "2.0.1")
    assert {typed(text, ",").type for text in addresses} == {"text"}
    assert typed("980 t", "?") == Value("text")
