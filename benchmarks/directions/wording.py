"""Words questions for relations of `lexicon.tsv`: which end is asked for is said in many ways."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: A verb: its base form, third person, past, participle, and what stands behind it.
Verb = tuple[str, str, str, str, str]

_PREPOSITIONS = frozenset(
    "to from in on at of for by with into against under through after over down up off out "
    "alongside behind round past".split()
)
_TRANSITIVE = frozenset("over up down out off".split())
_PLURALS = {"person": "people", "child": "children", "people": "people", "species": "species"}


@dataclass(frozen=True)
class View:
    """A relation from one of its ends, `given`, to the other one, `asked`."""

    given: str
    asked: str
    verbs: Sequence[Verb]
    converse: Sequence[Verb]
    asked_nouns: Sequence[str]
    given_nouns: Sequence[str]
    more: Sequence[str]


@dataclass(frozen=True)
class Relation:
    """A relation of the lexicon, as seen from its head and from its tail."""

    domain: str
    symmetric: bool
    along: View
    back: View
    #: What tells whether another relation means the same.
    words: frozenset[str]

    def view(self, forward: bool) -> View:
        return self.along if forward else self.back


def _verb(text: str) -> Verb:
    first, _, rest = text.partition(" ")
    if first == "be":
        return "be", "is", "was", "been", rest
    base, *forms = first.split(":")
    short = base.endswith(("s", "sh", "ch", "x", "z", "o"))
    y = base.endswith("y") and base[-2] not in "aeou"
    third = "has" if base == "have" else base[:-1] + "ies" if y else base + "es" * short
    third = third if short or y or base == "have" else base + "s"
    past = base + "d" if base.endswith("e") else base[:-1] + "ied" if y else base + "ed"
    if base == "have":
        forms = ["had", "had"]
    for end in ("stop", "refer", "plan", "ship", "transfer", "tutor"):
        if base == end and end != "tutor":
            past = base + base[-1] + "ed"
    past, part = forms if len(forms) == 2 else (past, past)
    return base, third, past, part, rest


def plural(noun: str) -> str:
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith("y") and noun[-2] not in "aeou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "sh", "ch", "x")) else "s")


def read_lexicon(file: Path = Path(__file__).with_name("lexicon.tsv")) -> list[Relation]:
    """Return the relations of a lexicon."""
    relations = []
    for line in file.read_text(encoding="utf-8").splitlines()[1:]:
        domain, head, tail, verbs, converse, heads, tails, more = line.split("\t")
        symmetric = verbs == "=" or converse == "="
        lists = [[p.strip() for p in part.split(";") if p.strip() not in ("", "=")]
                 for part in (verbs, converse, heads, tails, more)]  # fmt: skip
        there, back = ([_verb(text) for text in part] for part in lists[:2])
        head_nouns, tail_nouns, questions = lists[2:]
        if symmetric:
            there = back = [*there, *back]
            head_nouns = tail_nouns = [*head_nouns, *tail_nouns]
        asked = {mark: [q[1:] for q in questions if q[0] == mark] for mark in "<>"}
        said = {" ".join((verb[0], verb[4])) for verb in (*there, *back)}
        relations.append(Relation(
            domain, symmetric,
            View(head, tail, there, back, tail_nouns, head_nouns, asked[">"]),
            View(tail, head, back, there, head_nouns, tail_nouns, asked["<"]),
            frozenset(said | {*head_nouns, *tail_nouns}),
        ))  # fmt: skip
    return relations


# --- Names of relationship types ---


def names(view: View) -> list[str]:
    """Return how a graph may call the relation in the direction from given to asked."""
    made = []
    for base, third, past, part, rest in view.verbs:
        if base == "be":
            made += [rest, rest, f"is {rest}", f"was {rest}"] if " " in rest else [f"is {rest}"]
        else:
            made += [f"{form} {rest}" for form in (third, third, past, base)]
            made += [f"has {part} {rest}"]
    for base, _, _, part, rest in view.converse:
        if base not in ("be", "have") and not _preposition(rest):
            made += [f"{part} {rest} by", f"{part} {rest} by", f"is {part} {rest} by",
                     f"was {part} {rest} by"]  # fmt: skip
    for noun in view.asked_nouns:
        made += [noun, noun, f"has {noun}", plural(noun), f"{noun} name"]
    for noun in view.given_nouns:
        made += [f"{noun} of", f"{noun} of", f"is {noun} of", f"is a {noun} of", f"{noun} for"]
    return [" ".join(name.split()).lower() for name in made]


def _preposition(rest: str) -> str:
    last = rest.rpartition(" ")[2]
    return last if last in _PREPOSITIONS and rest not in _TRANSITIVE else ""


# --- Questions ---


class Wording:
    """Words questions; `draw` chooses among the ways to say it."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def who(self, type_: str, *, object_: bool = False) -> str:
        """Return an asking word for a type."""
        bare = type_.lstrip("*@#")
        which = [f"which {bare}", f"what {bare}", f"which {plural(bare)}", f"which {bare}"]
        if type_[0] == "*":
            return self.draw.choice(["who", "who", "who", "whom" if object_ else "who", which[0]])
        return self.draw.choice(["what", "which", *which])

    def subject(self, type_: str) -> str:
        """Return a noun phrase that a relative clause follows."""
        bare = type_.lstrip("*@#")
        many = plural(bare)
        that = self.draw.choice(["who", "that"] if type_[0] == "*" else ["that", "which"])
        return self.draw.choice([f"the {bare} {that}", f"the {many} {that}", f"the one {that}",
                                 f"the {bare} {that}"])  # fmt: skip

    def active(self, verb: Verb) -> str:
        _, third, past, _, rest = verb
        return f"{self.draw.choice([third, third, past])} {rest}".strip()

    def passive(self, verb: Verb) -> str:
        """Return a passive without a form of "be"; empty for none."""
        base, _, _, part, rest = verb
        usual = base not in ("be", "have") and not _preposition(rest)
        return f"{part} {rest} by" if usual else ""

    def is_(self, type_: str = "") -> str:
        return self.draw.choice(["is", "is", "was", "are", "were"])

    def ask(self, view: View, x: str) -> str:
        """Return a question for what is asked, given `x`."""
        made: list[str] = []
        groups: list[list[str]] = []
        one, other = self.who(view.asked), self.who(view.asked, object_=True)
        bare = view.asked.lstrip("*@#")
        some = plural(bare)
        name = self.draw.choice(["name", "list", "show me", "give me", "find", "tell me"])
        do = self.draw.choice(["does", "does", "did", "do"])
        adverb = {"*": "", "@": "where", "#": "when"}.get(view.asked[0], "")
        for verb in view.verbs:
            base, third, past, _, rest = verb
            before, last = rest.rpartition(" ")[0], _preposition(rest)
            if base == "be":
                be = self.draw.choice(["is", "was"])
                made += [f"{other} {be} {x} {rest}", f"{x} {be} {rest} {other}"]
                if last:
                    whom = "whom" if view.asked[0] == "*" else f"which {bare}"
                    made += [f"{last} {whom} {be} {x} {before}"] * 2
                if adverb and last in ("in", "at", "on", "from"):
                    made += [f"{adverb} {be} {x} {before}"] * 3
            else:
                made += [f"{other} {do} {x} {base} {rest}"] * 3
                made += [f"{x} {self.active(verb)} {other}",
                         f"how many {some} {do} {x} {base} {rest}",
                         f"{name} the {some} {x} {self.active(verb)}",
                         f"{name} {self.subject(view.asked)} {x} {self.active(verb)}"]  # fmt: skip
                if last:
                    whom = "whom" if view.asked[0] == "*" else f"which {bare}"
                    made += [f"{last} {whom} {do} {x} {base} {before}"] * 2
                if adverb and last in ("in", "at", "on", "to", "from"):
                    made += [f"{adverb} {do} {x} {base} {before}"] * 2
                if passive := self.passive(verb):
                    be = self.is_()
                    made += [f"{one} {be} {passive} {x}"] * 3
                    made += [f"how many {some} {be} {passive} {x}", f"{name} the {some} {passive} {x}"]
        groups += [made] * 4
        made = []
        for verb in view.converse:
            base, third, past, _, rest = verb
            many = "are" if base == "be" else base
            made += [f"{one} {self.active(verb)} {x}"] * 4
            made += [f"which {some} {many} {rest} {x}", f"how many {some} {many} {rest} {x}",
                     f"{name} {self.subject(view.asked)} {self.active(verb)} {x}",
                     f"{name} everyone who {self.active(verb)} {x}"]  # fmt: skip
            if passive := self.passive(verb):
                be = self.draw.choice(["is", "is", "was"])
                whom = "whom" if view.asked[0] == "*" else f"which {bare}"
                made += [f"{other} {be} {x} {passive}", f"by {whom} {be} {x} {passive[:-3]}",
                         f"{x} {be} {passive} {whom}"]  # fmt: skip
                if base == verb[0] and view.asked[0] == "@":
                    made += [f"where {be} {x} {passive[:-3]}"]
        what = "who" if view.asked[0] == "*" else "what"
        groups += [made] * 4
        made = []
        for noun in view.asked_nouns:
            many = plural(noun)
            made += [f"{what} is {x}'s {noun}", f"{what} is the {noun} of {x}",
                     f"{what} was the {noun} of {x}", f"{name} {x}'s {noun}", f"{x}'s {noun}",
                     f"{what} are the {many} of {x}", f"{what} are {x}'s {many}",
                     f"{name} the {many} of {x}", f"which {bare} is the {noun} of {x}",
                     f"{what} is {noun} of {x}", f"how many {many} does {x} have",
                     f"what {noun} does {x} have", f"who or what is the {noun} of {x}",
                     f"the {noun} of {x}"]  # fmt: skip
        groups += [made] * 4
        made = []
        for noun in view.given_nouns:
            whom = "whom" if view.asked[0] == "*" else f"which {bare}"
            made += [f"whose {noun} is {x}", f"whose {noun} was {x}",
                     f"{one} has {x} as {self.draw.choice(['a ', 'its ', 'their ', ''])}{noun}",
                     f"of {whom} is {x} the {noun}", f"{x} is the {noun} of {whom}",
                     f"{what} is {x} the {noun} of", f"{what} is {x} {noun} of"]  # fmt: skip
        groups += [made] * 2 + [[_filled(question, x) for question in view.more]] * 2
        groups = [group for group in groups if group]
        return self.finish(self.draw.choice(self.draw.choice(groups))) if groups else ""

    def finish(self, text: str) -> str:
        text = " ".join(text.split())
        if self.draw.random() < 0.12:
            text = self.draw.choice(["can you tell me ", "please tell me ", "i want to know ",
                                     "do you know ", "so "]) + text  # fmt: skip
        return text + self.draw.choice(["?", "?", "?", "", " ?", "."])

    def thing(self, view: View, x: str) -> str:
        """Return a noun phrase for what is asked, given `x`."""
        made = []
        for noun in view.asked_nouns:
            made += [f"the {noun} of {x}", f"{x}'s {noun}"] * 2 + [f"the {plural(noun)} of {x}"]
        for verb in view.verbs:
            made += [f"{self.subject(view.asked)} {x} {self.active(verb)}"]
            if passive := self.passive(verb):
                made += [f"the {view.asked.lstrip('*@#')} {passive} {x}"]
        for verb in view.converse:
            made += [f"{self.subject(view.asked)} {self.active(verb)} {x}"] * 2
            if passive := self.passive(verb):
                made += [f"{self.subject(view.asked)} {x} is {passive}"]
        return " ".join((self.draw.choice(made) if made else f"what {x} has").split())

    def same(self, view: View, x: str) -> str:
        """Return a question for others that have what `x` has."""
        made, bare = [], view.given.lstrip("*@#")
        who = self.who(view.given)
        for noun in view.asked_nouns:
            made += [f"{who} has the same {noun} as {x}", f"{who} shares a {noun} with {x}",
                     f"which other {plural(bare)} have the {noun} of {x}",
                     f"which {plural(bare)} share their {noun} with {x}"]  # fmt: skip
        for verb in view.verbs:
            kind = view.asked.lstrip("*@#")
            made += [f"{who} {self.active(verb)} the same {kind} as {x}",
                     f"{who} else {self.active(verb)} the {kind} that {x} {self.active(verb)}"]  # fmt: skip
        return self.finish(self.draw.choice(made)) if made else ""

    def whether(self, view: View, x: str, y: str) -> str:
        """Return a question for yes or no: is `y` what is asked, given `x`?"""
        made = []
        for verbs, a, b in ((view.verbs, x, y), (view.converse, y, x)):
            for verb in verbs:
                base, _, _, _, rest = verb
                do = self.draw.choice(["does", "did", "does"])
                be = self.draw.choice(["is", "was"])
                made += [f"{be} {a} {rest} {b}"] * 3 if base == "be" else [f"{do} {a} {base} {rest} {b}"] * 4
                if passive := self.passive(verb):
                    made += [f"{be} {b} {passive} {a}"] * 2
                if base != "be":
                    made += [f"is it true that {a} {self.active(verb)} {b}"]
        for nouns, a, b in ((view.asked_nouns, x, y), (view.given_nouns, y, x)):
            for noun in nouns:
                made += [f"is {b} {a}'s {noun}", f"is {b} the {noun} of {a}",
                         f"was {b} {a}'s {noun}", f"does {a} have {b} as {noun}"]  # fmt: skip
        return self.finish(self.draw.choice(made)) if made else ""

    def both(self, first: View, x: str, second: View, y: str) -> str:
        """Return a question for what two things have in common; empty for none."""
        made = []
        who = self.draw.choice([self.who(first.asked), f"which {plural(first.asked.lstrip('*@#'))}"])
        for one in first.converse:
            for two in second.converse:
                made += [f"{who} {self.active(one)} {x} and {self.active(two)} {y}"]
            for noun in second.given_nouns:
                made += [f"{who} {self.active(one)} {x} and has {y} as {noun}"]
        for one in first.verbs:
            if passive := self.passive(one):
                for two in second.converse:
                    made += [f"{who} {passive} {x} {self.active(two)} {y}",
                             f"{who} is {passive} {x} and {self.active(two)} {y}"]  # fmt: skip
        return self.finish(self.draw.choice(made)) if made else ""


def _filled(question: str, x: str) -> str:
    return " ".join(x if word == "x" else x + word[1:] if word.startswith("x'") else word
                    for word in question.split())  # fmt: skip
