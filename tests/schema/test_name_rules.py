from collections import Counter

import pytest

from stickler_cli.comparators.comparator_registry import construct
from stickler_cli.schema.inference.name_rules import (
    MISLEADING,
    is_plural,
    rule_for,
    rules,
    singular,
    words_of,
)

MEANINGS = {
    "an identifier": (
        "id customer_id customerID taxId tax-id ids invoice_number invoiceNumber InvoiceNo order_nr"
        " currency_code sku SKUs iban vat VATNumber vat_id account account_number serial isbn_13"
        " zip zipCode postal_code payment_reference PO po_number type_code"
    ),
    "an amount of money": (
        "amount amount_due total total_usd subtotal sub_total totalAmount unit_price prices tax"
        " tax_total taxes cost fee fees balance_due total_before_tax total_excluding_vat"
        " salary_2024 price_per_unit amount_value"
    ),
    "a count or a rate": "quantity qty item_count number_of_pages no_of_items tax_rate pct",
    "a date or a range of dates": (
        "date invoice_date dateOfBirth created_at issued_on due due_date dueDates dob birthday"
        " period billing_period valid_from date_raw expiry customer_created_at"
    ),
    "a time of day": "time start_time",
    "a web or e-mail address": (
        "email e_mail eMailAddress emails website url URLs ip_address user_name"
    ),
    "a secret, a file or a formula": "password file_name fileName Dateiname formula",
    "a position, to five metres": "latitude lng start_lat",
    "a telephone number": "phone phoneNumber fax Telefon numero_de_telefono téléphone",
    "a currency or a unit": "currency currency_unit Währung devise moneda",
    "one of a few choices": "status statuses order_status gender document_type time_zone sexo",
    "a name": (
        "name vendor_name vendorName vendor supplier customers company first_name approved_by"
        " account_holder account_name name_of_spouse authors"
    ),
    "a postal address": "address billing_address addressLine2 street shipping-addresses",
    "a place": "city cities town state country birth_place place_of_birth",
    "a longer text": (
        "description item_description notes comments remarks summary abstract amount_in_words"
    ),
}


@pytest.mark.parametrize(
    ("name", "meaning"),
    [(name, meaning) for meaning, names in MEANINGS.items() for name in names.split()],
)
def test_a_name_on_a_string_means(name, meaning):
    rule, _ = rule_for(name, "string")

    assert rule.meaning.partition(":")[0] == meaning


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("customer_id", "an identifier"),
        ("total", "an amount of money"),
        ("vat", "an amount of money"),
        ("net", "an amount of money"),
        ("amount_in_words", "an amount of money"),
        ("quantity", "a count or a rate"),
        ("phone", "a telephone number"),
    ],
)
def test_a_name_on_a_number_means(name, meaning):
    rule, _ = rule_for(name, "number")

    assert rule.meaning.startswith(f"{meaning}: ")


@pytest.mark.parametrize("name", ["bbox", "bounding_box", "boundingBoxes", "b_box", "wordBBox"])
def test_a_name_on_an_array_of_numbers_may_mean_a_box(name):
    rule, _ = rule_for(name, "box")

    assert rule.default.comparator == "BBoxIoUComparator"
    assert rule_for(name, "string") is None


@pytest.mark.parametrize(
    ("names", "meaning"),
    [
        (
            (
                "Rechnungsnummer Kundennr PLZ Kfz-Kennzeichen code_postal numéroFacture"
                " número_de_serie"
                " códigoPostal"
                " codice_fiscale partitaIVA NIF nº_numero factuurnummer Postcode"
            ),
            "an identifier",
        ),
        (
            (
                "Betrag Gesamtpreis Versandkosten montant_ttc prix_unitaire importe precioUnitario"
                " importo_totale prezzo preço valor_total bedrag stukprijs Gebühr"
            ),
            "an amount of money",
        ),
        ("Menge Anzahl quantité cantidad quantità Quantidade aantal taux_tva", "a count or a rate"),
        (
            (
                "Datum Rechnungsdatum date_de_naissance fecha fechaEmisión data_di_nascita"
                " data_emissão vervaldatum échéance Fälligkeit"
            ),
            "a date or a range of dates",
        ),
        ("Wohnfläche superficie distancia température velocità idade oppervlakte", "a measurement"),
        ("Reisepass passeport lote lotto chave paspoort", "an identifier"),
        ("version_logiciel versión versione versão versie", "a version number"),
        ("Uhrzeit heure_de_départ hora orario tijdstip", "a time of day"),
        ("Vorname nom_de_famille apellidos cognome fornecedor leverancier Empfänger", "a name"),
        ("Anschrift Straße rue dirección indirizzo endereço Straatnaam_adres", "a postal address"),
        ("Wohnort ville ciudad città cidade woonplaats", "a place"),
        (
            "Beschreibung désignation descripción descrizione descrição omschrijving",
            "a longer text",
        ),
    ],
)
def test_names_in_seven_languages_mean_the_same(names, meaning):
    rules_by_name = {name: rule_for(name, "string") for name in names.split()}

    assert [
        name
        for name, rule in rules_by_name.items()
        if rule is None or not rule[0].meaning.startswith(f"{meaning}: ")
    ] == []


@pytest.mark.parametrize(
    "name", ["Kaltmiete", "loyer_mensuel", "alquiler", "affitto", "aluguel", "huur", "omzet", "IVA"]
)
def test_numbers_are_money_where_texts_may_be_words(name):
    rule, _ = rule_for(name, "number")

    assert rule.meaning.startswith("an amount of money")
    assert rule_for(name, "string") is None


@pytest.mark.parametrize("name", ["report", "resort", "data", "import", "42", "surface", "export"])
def test_names_that_only_end_like_foreign_ones_say_nothing(name):
    assert rule_for(name, "string") is None


def test_a_preposition_at_the_end_belongs_to_the_name():
    assert words_of("validFrom") == ("valid", "from")
    assert rule_for("validFrom", "string")[1] == "valid from"
    assert rule_for("at_vendor", "string")[1] == "vendor"


def test_a_name_is_split_at_case_punctuation_and_digits():
    assert words_of("HTTPServerURL") == ("http", "server", "url")
    assert words_of("line1_total-2") == ("line", "total")
    assert words_of("größeInCm") == ("größe", "in", "cm")
    assert words_of("taxIDs") == ("tax", "id")


@pytest.mark.parametrize(
    ("plural", "expected"),
    [
        ("boxes", "box"),
        ("batches", "batch"),
        ("dishes", "dish"),
        ("addresses", "address"),
        ("statuses", "status"),
        ("countries", "country"),
        ("expenses", "expense"),
        ("ties", "tie"),
        ("skies", "sky"),
        ("houses", "house"),
        ("viruses", "virus"),
        ("os", "os"),
        ("gross", "gross"),
        ("basis", "basis"),
        ("is", "is"),
    ],
)
def test_plurals_are_taken_off(plural, expected):
    assert singular(plural) == expected


def test_the_last_word_says_whether_a_name_is_plural():
    assert is_plural("bounding_boxes_2")
    assert not is_plural("boxes_model")
    assert not is_plural("")


def test_no_name_is_in_two_rules_for_the_same_kind():
    endings = Counter(
        (words_of(name), kind)
        for rule in rules()
        for name in rule.names["en"]
        for kind in rule.kinds
    )
    endings.update((words_of(name), "string") for name in MISLEADING)

    assert [ending for ending, count in endings.items() if count > 1] == []


@pytest.mark.parametrize("rule", rules())
def test_a_rule_finds_its_own_names_and_names_a_comparator_that_can_be_made(rule):
    construct(rule.default.comparator, rule.default.config)

    for name in rule.names["en"]:
        for kind in rule.kinds:
            assert rule_for(name.replace(" ", "_"), kind)[0] is rule
