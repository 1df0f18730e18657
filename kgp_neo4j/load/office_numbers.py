"""Writes a spreadsheet's values as the spreadsheet shows them."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import Any, NamedTuple

__all__ = ["shown_value"]

#: Colours, conditions, padding and alignment of a number format, which show nothing.
_UNSEEN = re.compile(r"\[(?:[A-Za-z]+\d*|[<>=][^\]]*|\$-[^\]]*)\]|[_*].")
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_QUOTED = re.compile(r'"([^"]*)"|\\(.)')
_DIGITS = re.compile(r"[#0?,]*[#0?](?:\.(?P<decimals>[#0?]*))?(?P<exponent>E[+-]0+)?(?P<scale>,*)")


class _Format(NamedTuple):
    before: str
    after: str
    decimals: int
    least: int
    thousands: bool
    percent: bool
    exponent: bool
    scale: int
    digits: int


def shown_value(value: Any, format_: str = "") -> str:
    """Return a cell's value as its number format shows it: "45.3%", "$1,200.00", "3 kg".

    Dates and times come in ISO form, numbers of no special format with up to 15 digits.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
        return value.date().isoformat() if midnight else value.isoformat(" ", "seconds")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if not isinstance(value, int | float):
        return str(value).strip()
    found = _parsed(format_)
    return _number(value, found) if found else _plain(value)


def _plain(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.15g}" if value == value and abs(value) < 1e15 else repr(value)


def _number(value: float, format_: _Format) -> str:
    sign = "-" if value < 0 else ""
    value = abs(value) * (100 if format_.percent else 1) / 1000**format_.scale
    if format_.exponent:
        text = f"{value:.{format_.decimals}E}"
    else:
        # Python rounds halves of what a float really is; a spreadsheet those of what it shows.
        value = float(f"{value:.15g}")
        grouping = "," if format_.thousands else ""
        text = f"{round(value + value * 1e-15, format_.decimals):{grouping}.{format_.decimals}f}"
        if format_.digits > 1 and not grouping:  # a postcode, a number of a thing
            whole, point, rest = text.partition(".")
            text = f"{whole.zfill(format_.digits)}{point}{rest}"
        if format_.decimals > format_.least:
            whole, _, rest = text.partition(".")
            rest = rest[: format_.least] + rest[format_.least :].rstrip("0")
            text = f"{whole}.{rest}" if rest else whole
    if not text.strip("0.,"):
        sign = ""
    return f"{sign}{format_.before}{text}{format_.after}"


@lru_cache(maxsize=1000)
def _parsed(format_: str) -> _Format | None:
    """Return what a number format does to a positive number; None where it is a plain one."""
    section = _sections(format_)
    if not section or section.lower() in ("general", "@", "0", "#"):
        return _Format("", "", 0, 0, False, False, False, 0, 1) if section in ("0", "#") else None
    section = _CURRENCY.sub(lambda m: f'"{m[1]}"' if m[1] else "", section)
    section = _UNSEEN.sub("", section)
    quoted: list[str] = []

    def keep(found: re.Match[str]) -> str:
        quoted.append(found[1] if found[1] is not None else found[2])
        return chr(0xE000 + len(quoted) - 1)

    bare = _QUOTED.sub(keep, section)
    digits = _DIGITS.search(bare)
    if not digits or len(quoted) > 100:
        return None
    around = [bare[: digits.start()], bare[digits.end() :]]
    if re.search(r"[#0?/A-Za-z@]", re.sub(r"[A-Z]{3}", "", "".join(around))):
        return None  # a fraction, a date, something in pieces
    percent = any("%" in part for part in around)
    before, after = (
        "".join(quoted[ord(c) - 0xE000] if 0 <= ord(c) - 0xE000 < len(quoted) else c for c in part)
        for part in around
    )
    if before.strip().startswith("(") and after.strip().startswith(")"):
        before, after = before.replace("(", "", 1), after.replace(")", "", 1)
    decimals = digits["decimals"] or ""
    core = digits[0].rstrip(",") if digits["scale"] else digits[0]
    return _Format(
        before=before.lstrip(),
        after=after.rstrip(),
        decimals=min(len(decimals), 30),
        least=min(len(decimals.rstrip("#?")), 30),
        thousands="," in core.partition(".")[0],
        percent=percent,
        exponent=bool(digits["exponent"]),
        scale=min(len(digits["scale"]), 9),
        digits=min(core.partition(".")[0].count("0"), 30),
    )


def _sections(format_: str) -> str:
    """Return the first section of a format; a quoted semicolon ends none."""
    return re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', format_, maxsplit=1)[0].strip()[:200]
