"""How the plain questions of `table_forms` are put."""

from __future__ import annotations

__all__ = [
    "ABOVE",
    "BOTH",
    "COMPARED",
    "DIFFERENCE",
    "ENDS",
    "FIGURE",
    "HOW_MANY",
    "LARGER",
    "LOOK_UP",
    "MOST",
    "NEXT",
    "PLACE",
    "ROWS",
    "WHERE",
    "WHICH",
]

LOOK_UP = (
    "What is the {column} of {row}?",
    "What is the value of {column} for {row}?",
    "What is the {column} for {row}?",
    "In the row '{row}', what is the {column}?",
    "What {column} does {row} have?",
    'For {row}, what is the value in column "{column}"?',
    "{column} of {row}",
    "which {column} is given for {row}?",
    "What is {row}'s {column}?",
    "What does the column {column} say in the row {row}?",
)
PLACE = (
    "What is in row {at}, column {to}?",
    "What is the {column} in row {at}?",
    "What is the value in the row {at} of the column {column}?",
)
WHERE = (
    "Which {key} has {column} {text}?",
    "What {key} has a {column} of {text}?",
    "Which {key} has the {column} '{text}'?",
    "List the {key} where {column} is {text}.",
    "For which {key} is the {column} {text}?",
)
HOW_MANY = (
    "How many rows have {column} = {text}?",
    "How many rows have {text} as {column}?",
    "How many {key} have the {column} {text}?",
    "In how many rows is the {column} {text}?",
    "What is the number of rows where {column} is {text}?",
)
ABOVE = {
    ">": ("more than", "above", "over", "greater than", "higher than"),
    "<": ("less than", "below", "under", "fewer than", "lower than"),
    ">=": ("at least", "no less than"),
    "<=": ("at most", "no more than"),
}
COMPARED = (
    "How many rows have a {column} {than} {number}?",
    "How many {key} have {column} {than} {number}?",
    "In how many rows is the {column} {than} {number}?",
)
WHICH = (
    "Which {key} have a {column} {than} {number}?",
    "List {key} with {column} {than} {number}.",
)
MOST = {
    True: (
        "Which {key} has the highest {column}?",
        "What {key} has the largest {column}?",
        "Which {key} had the most {column}?",
        "Which {key} has the maximum {column}?",
        "{key} with the greatest {column}",
        "Which row has the highest {column}?",
    ),
    False: (
        "Which {key} has the lowest {column}?",
        "What {key} has the smallest {column}?",
        "Which {key} had the least {column}?",
        "Which {key} has the minimum {column}?",
        "{key} with the fewest {column}",
        "Which row has the lowest {column}?",
    ),
}
FIGURE = {
    "sum": (
        "What is the total {column}?",
        "What is the sum of {column}?",
        "Add up the {column} column: what is the sum?",
        "What is the sum of the values in {column}?",
        "What is the total of the column {column}?",
    ),
    "average": (
        "What is the average {column}?",
        "What is the mean of {column}?",
        "What is the average of the column {column}?",
        "What is the average value of {column}?",
    ),
    "max": (
        "What is the highest {column}?",
        "What is the maximum {column}?",
        "What is the largest value in {column}?",
        "What is the maximum of the column {column}?",
    ),
    "min": (
        "What is the lowest {column}?",
        "What is the minimum {column}?",
        "What is the smallest value in {column}?",
        "What is the minimum of the column {column}?",
    ),
    "distinct": (
        "How many different {column} are there?",
        "How many distinct {column} are there?",
        "What is the number of different values of {column}?",
        "How many unique values does the column {column} have?",
    ),
    "select": (
        "List the {column} values.",
        "List all {column}.",
        "What are the values of {column}?",
        "Which values does the column {column} list?",
        "Give every {column}.",
    ),
    "common": (
        "What is the most common {column}?",
        "Which {column} appears most often?",
        "What is the most frequent {column}?",
        "Which {column} occurs the most?",
    ),
}
DIFFERENCE = (
    "What is the difference in {column} between {row} and {other}?",
    "By how much does the {column} of {row} differ from that of {other}?",
    "What is the difference between the {column} of {row} and {other}?",
    "How much higher is the {column} of {row} than that of {other}?",
)
LARGER = {
    True: (
        "Which has the higher {column}, {row} or {other}?",
        "Which is larger in {column}, {row} or {other}?",
        "Who has more {column}, {row} or {other}?",
    ),
    False: (
        "Which has the lower {column}, {row} or {other}?",
        "Which is smaller in {column}, {row} or {other}?",
        "Who has less {column}, {row} or {other}?",
    ),
}
NEXT = {
    1: (
        "Which {key} comes after {row}?",
        "Which {key} is listed after {row}?",
        "What is the next {key} after {row}?",
    ),
    -1: (
        "Which {key} comes before {row}?",
        "Which {key} is listed before {row}?",
        "What is the {key} right before {row}?",
    ),
}
ENDS = {
    False: (
        "What is the first {column}?",
        "Which {column} is listed first?",
        "What is the {column} in the first row?",
    ),
    True: (
        "What is the last {column}?",
        "Which {column} is listed last?",
        "What is the {column} in the last row?",
    ),
}
ROWS = (
    "How many rows are there?",
    "How many rows does the table have?",
    "How many rows are listed?",
)
BOTH = (
    "What is the total {column} of {row} and {other}?",
    "{column} of {row} and {other} combined?",
)
