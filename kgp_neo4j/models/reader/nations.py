"""Countries by their names and by what their people are called, in English."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["nations_in"]

#: A country, then other names of it and words for its people, films and bands.
_NAMES = """
Afghanistan Afghan|Albania Albanian|Algeria Algerian|Andorra Andorran|Angola Angolan|
Argentina Argentine Argentinian Argentinean|Armenia Armenian|Australia Australian|
Austria Austrian|Azerbaijan Azerbaijani|Bahrain Bahraini|Bangladesh Bangladeshi|
Barbados Barbadian|Belarus Belarusian Byelorussian|Belgium Belgian|Belize Belizean|
Benin Beninese|Bhutan Bhutanese|Bolivia Bolivian|Bosnia Bosnian|Botswana Motswana|
Brazil Brazilian|Brunei Bruneian|Bulgaria Bulgarian|Burundi Burundian|Cambodia Cambodian|
Cameroon Cameroonian|Canada Canadian Ontario Quebec Alberta Manitoba Saskatchewan|Chad Chadian|
Chile Chilean|China Chinese|Colombia Colombian|Congo Congolese|Costa_Rica Costa_Rican|
Croatia Croatian|Cuba Cuban|Cyprus Cypriot|Czechoslovakia Czechoslovak Czech_Republic Czech|
Denmark Danish Dane|Ecuador Ecuadorian|Egypt Egyptian|El_Salvador Salvadoran|Eritrea Eritrean|
Estonia Estonian|Ethiopia Ethiopian|Fiji Fijian|Finland Finnish|France French|Gabon Gabonese|
Gambia Gambian|Georgia_(country) Georgian|Germany German West_German East_German|Ghana Ghanaian|
Greece Greek|Guatemala Guatemalan|Guinea Guinean|Guyana Guyanese|Haiti Haitian|
Honduras Honduran|Hong_Kong Cantonese|Hungary Hungarian|Iceland Icelandic|
India Indian Tamil Telugu Malayalam Kannada Bengali Hindi Bollywood Marathi Punjabi Kerala|
Indonesia Indonesian|Iran Iranian Persian|Iraq Iraqi|Ireland Irish|Israel Israeli|Italy Italian|
Ivory_Coast Ivorian|Jamaica Jamaican|Japan Japanese|Jordan Jordanian|
Kazakhstan Kazakh Kazakhstani|Kenya Kenyan|Kosovo Kosovar|Kuwait Kuwaiti|Kyrgyzstan Kyrgyz|
Laos Laotian|Latvia Latvian|Lebanon Lebanese|Liberia Liberian|Libya Libyan|Liechtenstein|
Lithuania Lithuanian|Luxembourg Luxembourgish|Macedonia Macedonian|Madagascar Malagasy|
Malawi Malawian|Malaysia Malaysian|Mali Malian|Malta Maltese|Mauritania Mauritanian|
Mauritius Mauritian|Mexico Mexican|Moldova Moldovan|Monaco Monegasque|Mongolia Mongolian|
Montenegro Montenegrin|Morocco Moroccan|Mozambique Mozambican|Myanmar Burma Burmese|
Namibia Namibian|Nepal Nepalese Nepali|Netherlands Dutch Holland|New_Zealand New_Zealander|
Nicaragua Nicaraguan|Niger Nigerien|Nigeria Nigerian|North_Korea North_Korean|Norway Norwegian|
Oman Omani|Pakistan Pakistani|Palestine Palestinian|Panama Panamanian|Paraguay Paraguayan|
Peru Peruvian|Philippines Filipino Philippine|Poland Polish|Portugal Portuguese|
Puerto_Rico Puerto_Rican|Qatar Qatari|Romania Romanian|Russia Russian Soviet Soviet_Union|
Rwanda Rwandan|Samoa Samoan|Saudi_Arabia Saudi|Senegal Senegalese|Serbia Serbian|Sierra_Leone|
Singapore Singaporean|Slovakia Slovak|Slovenia Slovene Slovenian|Somalia Somali|
South_Africa South_African|South_Korea South_Korean Korean Korea|Spain Spanish Catalan|
Sri_Lanka Sri_Lankan|Sudan Sudanese|Suriname Surinamese|Sweden Swedish|Switzerland Swiss|
Syria Syrian|Taiwan Taiwanese|Tajikistan Tajik|Tanzania Tanzanian|Thailand Thai|Togo Togolese|
Trinidad Trinidadian|Tunisia Tunisian|Turkey Turkish Ottoman|Turkmenistan Turkmen|
Uganda Ugandan|Ukraine Ukrainian|United_Arab_Emirates Emirati|
United_Kingdom British England English Scotland Scottish Wales Welsh UK U.K. Northern_Ireland
Northern_Irish|
United_States American USA U.S. US United_States_of_America Alabama Alaska Arizona Arkansas
California Colorado Connecticut Delaware Florida Hawaii Idaho Illinois Indiana Iowa Kansas
Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri Montana
Nebraska Nevada New_Hampshire New_Jersey New_Mexico New_York North_Carolina North_Dakota Ohio
Oklahoma Oregon Pennsylvania Rhode_Island South_Carolina South_Dakota Tennessee Texas Utah
Vermont Virginia Washington West_Virginia Wisconsin Wyoming Hollywood|Uruguay Uruguayan|
Uzbekistan Uzbek|Venezuela Venezuelan|Vietnam Vietnamese|Yemen Yemeni|Yugoslavia Yugoslav|
Zambia Zambian|Zimbabwe Zimbabwean
"""


def nations_in(text: str) -> list[tuple[str, int, int]]:
    """Return the countries that a text names or tells by an adjective, each with its place.

    Where someone was born ("Canadian-born") is not where they are from.
    """
    pattern, known = _compiled()
    return [
        (known[found[0]], found.start(), found.end())
        for found in pattern.finditer(text)
        if not re.match(r"\s?-\s?born", text[found.end() :])
    ]


@cache
def _compiled() -> tuple[re.Pattern[str], dict[str, str]]:
    known: dict[str, str] = {}
    for entry in _NAMES.split("|"):
        names = [name.replace("_", " ") for name in entry.split()]
        for name in names:
            known.setdefault(name.removesuffix(" (country)"), names[0])
    longest = sorted(known, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?!\w)"), known
