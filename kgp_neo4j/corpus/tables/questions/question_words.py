"""The words of questions over tables: names of operations."""

from kgp_neo4j.text.words import STOP_WORDS

#: Words that name nothing in a table: those of every text, and question words.
STOP = STOP_WORDS.union(
    "name list listed give tell total number amount previous long table chart".split()
)

_CUES = {
    "count": "many number times often total amount count much",
    "sum": "total combined sum altogether many number together all overall amount both much",
    "average": "average mean averaged averages",
    "high": "most highest largest biggest greatest longest tallest top maximum max best latest "
    "last more higher larger longer greater bigger taller later newest recent heaviest oldest "
    "better fastest strongest leading leads widest deepest richest older final",
    "low": "least lowest smallest fewest shortest minimum min worst earliest first less lower "
    "smaller fewer shorter earlier youngest lightest slowest bottom sooner younger oldest fastest "
    "closest narrowest initial",
    "first": "first top earliest initial start beginning begin started started one opening",
    "last": "last bottom latest final end recent ending finally ended",
    "next": "next after following below follows followed succeeded later under subsequent "
    "directly immediately right behind beneath",
    "previous": "previous before prior above preceding precedes preceded earlier ahead directly "
    "immediately right previously over",
    "difference": "difference more than less between how many longer fewer gap compared greater "
    "larger bigger higher older difference span apart",
    "common": "most least often common frequently times many frequent more popular appears fewest "
    "less number occurs greatest repeated",
    "distinct": "different many number unique distinct various total amount",
    "like": "same other as also besides else share another both similar shares shared apart tied",
    "exists": "is are was were did does do has have can there any",
    "not": "not except besides never other without excluding aside didn doesn weren wasn isn aren",
}
#: Words that indicate an operation; a plan that uses one covers these words of the question.
CUES = {name: frozenset(words.split()) for name, words in _CUES.items()}

#: Words that ask for the most or the latest, and for the least or the earliest.
UP = frozenset(
    "most highest largest biggest greatest longest tallest maximum max best more higher larger "
    "longer greater bigger taller heaviest better leading widest deepest top last latest newest "
    "recent final later end ended".split()
)
DOWN = frozenset(
    "least lowest smallest fewest shortest minimum min worst less lower smaller fewer shorter "
    "youngest lightest bottom sooner younger narrowest first earliest oldest initial earlier "
    "start began".split()
)
