"""Words with a fixed meaning: numbers, days, months, and names that look alike.

Two such words are different even if they look similar: `million` and `billion`, `sixty` and
`sixteen`, `Tuesday` and `Thursday`. The languages are English, German, French, Spanish, Italian,
Portuguese and Dutch; months and days are also in Indonesian. All words are without accents and in
lower case.
"""

import unicodedata
from functools import cache
from typing import Final

from stickler_cli.core.normal_forms import normalize_text

_FIRST_ASIAN: Final = "\u0900"  # the first letter of Devanagari
_LAST_ASIAN: Final = "\u30ff"  # the last letter of Katakana


def folded(text: str) -> str:
    """Return a text in lower case without accents: `Straße` becomes `strasse`.

    Marks on letters of Asian scripts are kept, because a letter with a mark is a different letter
    or has a different tone: `バス` is not `ハス`.
    """
    if text.isascii():
        return text.lower()
    decomposed = normalize_text("NFKD", text.casefold())
    return "".join(
        letter
        for letter in decomposed
        if not unicodedata.combining(letter) or _FIRST_ASIAN <= letter <= _LAST_ASIAN
    )


MONTHS: Final = {
    name: number
    for number, names in (
        # English, German, French, Spanish, Italian, Portuguese, Dutch, Indonesian.
        (1, "january jan januar janner jaen janvier janv enero ene gennaio gen janeiro januari"),
        (2, "february feb februar feber fevrier fevr fev febrero febbraio febb fevereiro"),
        (2, "februari febr pebruari"),
        (3, "march mar marz maerz mrz mars marzo marco maart mrt maret"),
        (4, "april apr avril avr abril abr aprile"),
        (5, "may mai mayo maggio mag maio mei"),
        (6, "june jun juni juin junio giugno giu junho"),
        (7, "july jul juli juillet juil julio luglio lug julho"),
        (8, "august aug aout agosto ago agt augustus agustus agu ags"),
        (9, "september sep sept septembre septiembre setiembre settembre sett set setembro"),
        (10, "october oct oktober okt octobre octubre ottobre ott outubro out"),
        (11, "november nov novembre noviembre novembro nopember"),
        (12, "december dec dezember dez decembre diciembre dic dicembre dezembro desember des"),
    )
    for name in names.split()
}
"""Maps each name of a month, and each usual abbreviation, to the number of the month."""

WEEKDAYS: Final = {
    name: index
    for index, names in enumerate(
        (
            "monday mon montag lundi lunes lunedi segunda maandag senin",
            "tuesday tue tues dienstag mardi martes martedi terca dinsdag selasa",
            "wednesday wed mittwoch mercredi miercoles mercoledi quarta woensdag rabu",
            "thursday thu thur thurs donnerstag jeudi jueves giovedi quinta donderdag kamis",
            "friday fri freitag vendredi viernes venerdi sexta vrijdag jumat",
            "saturday sat samstag sonnabend samedi sabado sabato zaterdag sabtu",
            "sunday sun sonntag dimanche domingo domenica zondag minggu",
        )
    )
    for name in names.split()
}
"""Maps each name of a weekday to its number; Monday is 0."""
_NUMBERS: Final = (
    (1, 1, "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"),
    (15, 1, "fifteen sixteen seventeen eighteen nineteen"),
    (20, 10, "twenty thirty forty fifty sixty seventy eighty ninety hundred"),
    (1, 1, "eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn"),
    (15, 1, "funfzehn sechzehn siebzehn achtzehn neunzehn"),
    (20, 10, "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig hundert"),
    (1, 1, "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"),
    (20, 10, "vingt trente quarante cinquante soixante septante huitante nonante cent"),
    (1, 1, "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"),
    (20, 10, "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien"),
    (1, 1, "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici"),
    (20, 10, "venti trenta quaranta cinquanta sessanta settanta ottanta novanta cento"),
    (1, 1, "um dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze"),
    (20, 10, "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem"),
    (1, 1, "een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien"),
    (20, 10, "twintig dertig veertig vijftig zestig zeventig tachtig negentig honderd"),
)
"""Number words. Each entry has the first number, the step from one number to the next, and the
words."""
_ORDINALS: Final = (
    (1, "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"),
    (13, "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"),
    (1, "erste zweite dritte vierte funfte sechste siebte achte neunte zehnte"),
    (
        1,
        "premier deuxieme troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme",
    ),
)


_LOOK_ALIKES: Final = (
    "austria australia austrian australian gambia zambia guinea guyana iran iraq iranian "
    "iraqi mali malawi mauritius mauritania niger nigeria paraguay uruguay slovakia slovenia "
    "slovak slovene prednisone prednisolone methylprednisolone vinblastine vincristine "
    "vinorelbine dopamine dobutamine epinephrine norepinephrine chlorpromazine chlorpropamide "
    "cefazolin cefoxitin cefuroxime cefotaxime carbamazepine oxcarbazepine daunorubicin "
    "doxorubicin idarubicin epirubicin fluoxetine duloxetine paroxetine lorazepam oxazepam "
    "temazepam clonazepam nifedipine nicardipine nimodipine felodipine omeprazole "
    "esomeprazole pantoprazole lansoprazole rabeprazole sulfadiazine sulfasalazine "
    "cyclosporine cycloserine citalopram escitalopram cetirizine levocetirizine "
    "methylphenidate dexmethylphenidate hydralazine hydroxyzine hydrocodone oxycodone "
    "morphine hydromorphone quinine quinidine metformin metronidazole simvastatin "
    "atorvastatin pravastatin rosuvastatin lovastatin losartan valsartan irbesartan "
    "penicillin penicillamine clonidine clozapine olanzapine quetiapine tramadol trazodone "
    "contact contract bid tid qid ileum ilium ureter urethra ureteral urethral neural neutral "
    "perineal peroneal facial fascial dysphagia dysphasia casual causal marital martial "
    "christian christina john joan jean juan canon canyon mr mrs ms miss sulfate sulfite sulfide "
    "nitrate nitrite nitride chlorate chlorite chloride phosphate phosphite phosphide"
)
"""Names of countries and medicines, and other words that look like another word but are never a
misspelling of it."""


@cache  # not built on import: few runs need it
def fixed_meanings() -> dict[str, str]:
    """Return the meaning of each word that has a fixed meaning, such as `day 0` for `monday`."""
    meanings: dict[str, str] = {}
    for first, step, words in _NUMBERS:
        for index, word in enumerate(words.split()):
            meanings[word] = f"number {first + step * index}"
    for first, words in _ORDINALS:
        for index, word in enumerate(words.split()):
            meanings[word] = f"ordinal {first + index}"
    meanings |= {word: f"word {word}" for word in _LOOK_ALIKES.split()}
    meanings |= {name: f"day {index}" for name, index in WEEKDAYS.items()}
    return meanings | {name: f"month {number}" for name, number in MONTHS.items()}


FUNCTION_WORDS: Final = frozenset(
    word
    for words in (
        "a an the of and in on at to for with by as is are was were be been this that these those",
        "it its which who",
        "der die das den dem des ein eine einer eines einem einen und von vom zu zum zur im am mit",
        "fur auf bei ist sind",
        "le la les l un une du de d et au aux en dans pour par sur avec est sont",
        "el los las y e del al con por para una es son",
        "il lo gli i uno di da dal della dei degli delle ed per su nel nella",
        "o os as um uma do dos das em na nos nas",
        "het een van op te voor met bij",
        "yang dan ke dari pada untuk dengan",
    )
    for word in words.split()
)
"""Articles and linking words, which mean little by themselves."""
LINK_WORDS: Final = frozenset(
    (
        *("to", "by", "for", "with", "in", "on", "at", "von", "vom", "zu", "zum", "zur", "mit"),
        *("fur", "auf", "bei", "de", "du", "pour", "par", "avec", "con", "per", "da", "dal", "op"),
        *("voor", "met", "van", "ke", "dari", "untuk", "dengan"),
    )
)
"""Function words such as `to` and `by`. They tell who does something to whom, or where."""
