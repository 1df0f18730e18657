"""The words of questions over tables: stems, number words, and the words that name operations."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = [
    "COMPARING",
    "CUES",
    "DEMONYMS",
    "EARLY",
    "LATE",
    "NEGATIVE",
    "NUMBERS",
    "ORDINALS",
    "PEOPLE",
    "PLACES",
    "POSITIVE",
    "STOP",
    "TIMES",
    "stem",
    "stems",
]

STOP = frozenset(
    (
        "a an the of in on at to for from by with and or is are was were be been being do "
        "does did has have had it its this that these those there their his her he she they "
        "what which who whom whose when where how many much long name list give tell me all "
        "any each every other than then as not no s t total number amount most least more "
        "less first last next previous after before between listed table chart only out "
        "during into over under above below same also if i you we up"
    ).split()
)
_IRREGULAR = {
    "won": "win",
    "winner": "win",
    "winning": "win",
    "winners": "win",
    "lost": "los",
    "lose": "los",
    "loss": "los",
    "losses": "los",
    "born": "birth",
    "died": "death",
    "die": "death",
    "dead": "death",
    "built": "build",
    "wrote": "writ",
    "written": "writ",
    "held": "hold",
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "cities": "city",
    "began": "start",
    "begin": "start",
    "started": "start",
    "ended": "end",
    "aired": "air",
    "tall": "height",
    "tallest": "height",
    "high": "height",
    "long": "length",
    "longest": "length",
    "wide": "width",
    "heavy": "weight",
    "heaviest": "weight",
    "old": "age",
    "oldest": "age",
    "youngest": "age",
    "countries": "countr",
    "country": "countr",
    "counties": "count",
    "county": "count",
}
_ENDINGS = ("ings", "ing", "ies", "edly", "ed", "es", "s", "e", "y")


def stem(word: str) -> str:
    """Return a word without its ending, so that `scored`, `scores` and `score` are one."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or word[0].isdigit():
        return word[:-1] if len(word) == 3 and word.endswith("s") and word != "was" else word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            if ending == "s" and word.endswith("ss"):
                return word
            return word[: -len(ending)]
    return word


def stems(text: str) -> Iterator[str]:
    """Yield the stems of a text's words."""
    return (stem(word) for word in text.split())


NUMBERS = {
    name: at
    for at, name in enumerate(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen "
            "fourteen fifteen sixteen seventeen eighteen nineteen twenty"
        ).split()
    )
} | {
    "once": 1,
    "twice": 2,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "hundred": 100,
    "thousand": 1000,
}
ORDINALS = {
    name: at
    for at, name in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1
    )
} | {
    f"{n}{'th' if n % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}": n
    for n in range(1, 101)
}

#: Phrases before (or after) a number that say which side of it is meant.
COMPARING: dict[str, frozenset[str]] = {
    ">": frozenset(
        (
            "more over above greater higher larger longer later after exceed exceeding exceeded "
            "beyond past bigger older than heavier taller farther between"
        ).split()
    ),
    ">=": frozenset("least since minimum from starting more higher greater between".split()),
    "<": frozenset(
        (
            "less under below fewer lower shorter smaller before prior earlier younger than "
            "within faster lighter between"
        ).split()
    ),
    "<=": frozenset("most up until maximum less fewer lower by through exceed between to".split()),
}

#: Words that speak for an operation; a plan that uses one has these words of the question covered.
CUES: dict[str, frozenset[str]] = {
    "count": frozenset("many number times often total amount count much".split()),
    "sum": frozenset(
        "total combined sum altogether many number together all overall amount both much".split()
    ),
    "average": frozenset("average mean averaged averages".split()),
    "high": frozenset(
        (
            "most highest largest biggest greatest longest tallest top maximum max best latest "
            "last more higher larger longer greater bigger taller later newest recent heaviest "
            "oldest better fastest strongest leading leads widest deepest richest older final"
        ).split()
    ),
    "low": frozenset(
        (
            "least lowest smallest fewest shortest minimum min worst earliest first less lower "
            "smaller fewer shorter earlier youngest lightest slowest bottom sooner younger oldest "
            "fastest closest narrowest initial"
        ).split()
    ),
    "first": frozenset(
        "first top earliest initial start beginning begin started started one opening".split()
    ),
    "last": frozenset("last bottom latest final end recent ending finally ended".split()),
    "next": frozenset(
        (
            "next after following below follows followed succeeded later under subsequent "
            "directly immediately right behind beneath"
        ).split()
    ),
    "previous": frozenset(
        (
            "previous before prior above preceding precedes preceded earlier ahead directly "
            "immediately right previously over"
        ).split()
    ),
    "difference": frozenset(
        (
            "difference more than less between how many longer fewer gap compared greater larger "
            "bigger higher older difference span apart"
        ).split()
    ),
    "common": frozenset(
        (
            "most least often common frequently times many frequent more popular appears fewest "
            "less number occurs greatest repeated"
        ).split()
    ),
    "distinct": frozenset("different many number unique distinct various total amount".split()),
    "like": frozenset(
        (
            "same other as also besides else share another both similar shares shared apart tied"
        ).split()
    ),
    "exists": frozenset("is are was were did does do has have can there any".split()),
    "span": frozenset("long years time last many difference between duration".split()),
    "not": frozenset(
        (
            "not except besides never other than without excluding aside didn doesn weren wasn "
            "isn aren"
        ).split()
    ),
}

#: What people of a country are called, where it is not the country's name with an ending, and what
#: stands in tables for other words.
DEMONYMS: dict[str, tuple[str, ...]] = {
    name: tuple(places.split("/"))
    for name, places in (
        pair.split("=")
        for pair in (
            "american=united states/usa/us/u s, british=united kingdom/great britain/gbr/uk, "
            "english=england/eng, french=france/fra, german=germany/ger, spanish=spain/esp, "
            "italian=italy/ita, dutch=netherlands/ned, irish=ireland/irl, "
            "scottish=scotland/sco, welsh=wales/wal, swiss=switzerland/sui, "
            "swedish=sweden/swe, danish=denmark/den, finnish=finland/fin, "
            "norwegian=norway/nor, polish=poland/pol, czech=czech/cze, greek=greece/gre, "
            "turkish=turkey/tur, russian=russia/rus, ukrainian=ukraine/ukr, "
            "hungarian=hungary/hun, romanian=romania/rou, bulgarian=bulgaria/bul, "
            "croatian=croatia/cro, serbian=serbia/srb, portuguese=portugal/por, "
            "belgian=belgium/bel, austrian=austria/aut, canadian=canada/can, "
            "mexican=mexico/mex, brazilian=brazil/bra, argentine=argentina/arg, "
            "argentinian=argentina/arg, colombian=colombia/col, chilean=chile/chi, "
            "australian=australia/aus, japanese=japan/jpn, chinese=china/chn, korean=south "
            "korea/kor, indian=india/ind, kenyan=kenya/ken, ethiopian=ethiopia/eth, "
            "jamaican=jamaica/jam, cuban=cuba/cub, israeli=israel/isr, egyptian=egypt/egy, "
            "slovenian=slovenia/slo, israelis=israel/isr, americans=united states/usa/us/u s, "
            "germans=germany/ger, italians=italy/ita, russians=russia/rus, "
            "canadians=canada/can, australians=australia/aus, kazakh=kazakhstan/kaz, "
            "estonian=estonia/est, latvian=latvia/lat, moroccan=morocco/mar, us=united "
            "states/usa/u s, usa=united states/us, uk=united kingdom/great britain, "
            "won=w/win/winner/1st, win=w/won/winner, wins=w/win/won, victories=w/win/won, "
            "lost=l/loss/lose, lose=l/lost/loss, losses=l/loss/lost, tie=t/d/draw/tied, "
            "tied=t/d/draw/tie, draws=d/draw, away=at/a, home=h/vs, male=m/men, "
            "female=f/women, first=1st/1, champion=champions/1st, champions=1st/champion, "
            "winner=1st/win/w"
        ).split(", ")
    )
}

# Words of headers (stems), and of questions, that speak for a column or a direction.
PLACES = frozenset(
    (
        "location venue city country countr town place stadium state region site district "
        "nation nationalit count hometown arena circuit track"
    ).split()
)
PEOPLE = frozenset(
    (
        "name player driver person director artist author writ actor winner win candidate "
        "coach rider athlet swimmer team nation countr runner skater manager president "
        "incumbent leader"
    ).split()
)
TIMES = frozenset("year date month day season time period releas".split())
NEGATIVE = frozenset(
    (
        "least lowest smallest fewest shortest minimum min worst less lower smaller fewer "
        "shorter youngest lightest bottom sooner younger narrowest"
    ).split()
)
POSITIVE = frozenset(
    (
        "most highest largest biggest greatest longest tallest maximum max best more higher "
        "larger longer greater bigger taller heaviest better leading widest deepest top"
    ).split()
)
EARLY = frozenset("first earliest oldest initial earlier start began".split())
LATE = frozenset("last latest newest recent final later end ended".split())
