"""The words of questions over tables: numbers, header words, and names of operations."""

from __future__ import annotations

from kgp_neo4j.text.words import STOP_WORDS, stem

__all__ = [
    "ABBREVIATED",
    "CUES",
    "DEMONYMS",
    "DOWN",
    "NUMBERS",
    "ORDINALS",
    "PEOPLE",
    "PLACES",
    "STOP",
    "TIMES",
    "UP",
    "header_stem",
]

#: Words that name nothing in a table: those of every text, and question words.
STOP = STOP_WORDS | frozenset(
    "name list listed give tell total number amount previous long table chart".split()
)
#: Words of questions with the word that headers use instead.
_HEADERS_SAY = {
    said: header
    for header, words in {
        "win": "won winner winners",
        "loss": "lost lose losses",
        "birth": "born",
        "death": "died die dead",
        "build": "built",
        "write": "wrote written writer",
        "hold": "held",
        "person": "people",
        "man": "men",
        "woman": "women",
        "child": "children",
        "start": "began begin",
        "height": "tall tallest high",
        "length": "long longest",
        "width": "wide",
        "weight": "heavy heaviest",
        "age": "old oldest youngest",
    }.items()
    for said in words.split()
}


def header_stem(word: str) -> str:
    """Return the stem of a word, or of the word that headers use instead of it."""
    return stem(_HEADERS_SAY.get(word, word))


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

#: Words that indicate an operation; a plan that uses one covers these words of the question.
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
            "not except besides never other without excluding aside didn doesn weren wasn isn aren"
        ).split()
    ),
}


def _also(pairs: str) -> dict[str, tuple[str, ...]]:
    """Return the words that stand for each word, from "word=one/other, ..."."""
    split = (pair.split("=") for pair in pairs.split(", "))
    return {word: tuple(others.split("/")) for word, others in split}


#: Names of a country's people, and how tables name the country.
DEMONYMS = _also(
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
    "states/usa/u s, usa=united states/us, uk=united kingdom/great britain"
)
#: Words and what tables write instead of them.
ABBREVIATED = _also(
    "won=w/win/winner/1st, win=w/won/winner, wins=w/win/won, victories=w/win/won, "
    "lost=l/loss/lose, lose=l/lost/loss, losses=l/loss/lost, tie=t/d/draw/tied, "
    "tied=t/d/draw/tie, draws=d/draw, away=at/a, home=h/vs, male=m/men, "
    "female=f/women, first=1st/1, champion=champions/1st, champions=1st/champion, "
    "winner=1st/win/w"
)

# Words of headers (stems), and of questions, that indicate a column or a direction.
PLACES = frozenset(
    map(
        header_stem,
        (
            "location venue city country town place stadium state region site district nation "
            "nationality county hometown arena circuit track"
        ).split(),
    )
)
PEOPLE = frozenset(
    map(
        header_stem,
        (
            "name player driver person director artist author writer actor win candidate coach "
            "rider athlete swimmer team nation country runner skater manager president incumbent "
            "leader"
        ).split(),
    )
)
TIMES = frozenset(map(header_stem, "year date month day season time period released".split()))
#: Words that ask for the most or the latest, and for the least or the earliest.
UP = frozenset(
    (
        "most highest largest biggest greatest longest tallest maximum max best more higher "
        "larger longer greater bigger taller heaviest better leading widest deepest top "
        "last latest newest recent final later end ended"
    ).split()
)
DOWN = frozenset(
    (
        "least lowest smallest fewest shortest minimum min worst less lower smaller fewer "
        "shorter youngest lightest bottom sooner younger narrowest "
        "first earliest oldest initial earlier start began"
    ).split()
)
