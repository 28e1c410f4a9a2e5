import json
import pickle
import subprocess
import sys

import pytest

import stickler_cli.comparators
from stickler_cli.comparators import (
    BaseComparator,
    BERTComparator,
    ExactComparator,
    NumericComparator,
)
from stickler_cli.comparators.base import KeywordError, keyword_parameters
from stickler_cli.comparators.comparator_registry import (
    BUILT_IN,
    Comparators,
    UnknownComparatorError,
    comparator_class,
    construct,
    describe,
    location_of,
    plugin_names,
)

PLUGIN = """
from stickler_cli.comparators import BaseComparator

class Acme(BaseComparator):
    '''Compare as Acme does.

    In detail.
    '''

    def __init__(self, unit="kg", /, *, limit=3, **others):
        super().__init__()
        if limit == "text":
            raise ValueError("limit must be a number")
        self.unit, self.limit, self.others = unit, limit, others

    def compare(self, gt, pred):
        return 1.0

class Plain(BaseComparator):
    def __init__(self):
        super().__init__()

    def compare(self, gt, pred):
        return 1.0

class Outer:
    class Inner(Plain):
        pass

not_a_class = 3
"""


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """Install a package that offers comparators; the names of two of them cannot be used."""
    (tmp_path / "acme_plugin.py").write_text(PLUGIN)
    (tmp_path / "acme_broken.py").write_text("raise RuntimeError('no licence')")
    for package, lines in {
        "acme": [
            "Plain = acme_plugin:Plain",
            "Broken = acme_broken:Judge",
            "Twice = acme_plugin:A",
        ],
        "other": ["Twice = other:B", "ExactComparator = acme_plugin:Plain"],
    }.items():
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(
            "\n".join(["[stickler_cli.comparators]", *lines, ""])
        )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for module in ("acme_plugin", "acme_broken"):
        sys.modules.pop(module, None)


def test_all_is_complete_and_sorted():
    names = stickler_cli.comparators.__all__

    assert sorted(names) == sorted([*BUILT_IN, "BaseComparator"])
    assert names == sorted(names)
    assert set(names) <= set(dir(stickler_cli.comparators))


@pytest.mark.parametrize("name", stickler_cli.comparators.__all__)
def test_every_name_of_the_package_is_a_comparator(name):
    assert issubclass(getattr(stickler_cli.comparators, name), BaseComparator)


def test_the_package_has_no_other_names():
    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        stickler_cli.comparators.Nope  # noqa: B018


def test_naming_comparators_loads_none_of_the_libraries_they_need():
    names = "stickler_cli.comparators, stickler_cli.comparators.comparator_registry"
    code = f"import sys, {names}; print({{'rapidfuzz', 'dateutil', 'scipy'}} & set(sys.modules))"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_name_has_a_class(name):
    assert issubclass(comparator_class(name), BaseComparator)


@pytest.mark.parametrize(
    ("older_name", "cls"),
    [("NumericExactC", NumericComparator), ("BertComparator", BERTComparator)],
)
def test_an_older_name_gives_the_class_of_today(older_name, cls):
    assert getattr(stickler_cli.comparators, older_name) is comparator_class(older_name) is cls
    assert cls().name == cls.__name__


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("LevenshtienComparator", "did you mean LevenshteinComparator?"),
        ("numericcomparator", "did you mean NumericComparator?"),
        ("Exact", "did you mean ExactComparator?"),
        ("Fuzy", "did you mean FuzzyComparator?"),
        ("Nope", ""),
        ("", ""),
        ("not a module:Class", ""),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name, hint):
    with pytest.raises(UnknownComparatorError) as caught:
        comparator_class(name)

    assert caught.value.found == f'comparator is "{name}"'
    assert caught.value.expected.startswith("one of ANLSStarComparator, ")
    assert caught.value.hint == hint


def test_an_unknown_name_can_be_sent_to_another_process():
    error = pickle.loads(pickle.dumps(UnknownComparatorError.of("comparator", "A", "B", "C?")))  # noqa: S301

    assert str(error) == 'comparator is "A", expected B; C?'


def test_a_name_in_a_schema_may_stand_for_a_comparator_that_is_there():
    own = ExactComparator(strip=False)
    names = Comparators(instances={"mine": own, "FuzzyComparator": own})

    names.check("mine")
    assert names.construct("mine", {}) is names.construct("FuzzyComparator", {}) is own
    assert names.construct("NumericComparator", {"threshold": 0.5}) == NumericComparator(0.5)


def test_other_names_in_a_schema_are_those_that_may_be_used(plugins):
    with pytest.raises(UnknownComparatorError, match="did you mean ExactComparator"):
        Comparators().check("Exact")
    for use in (Comparators().check, lambda name: Comparators().construct(name, {})):
        with pytest.raises(UnknownComparatorError, match="--allow-plugins"):
            use("acme_plugin:Plain")
    Comparators(allow_plugins=True).check("acme_plugin:Plain")
    plain = Comparators(allow_plugins=True).construct("acme_plugin:Plain", {})
    assert type(plain).__name__ == "Plain"


@pytest.mark.parametrize(
    ("comparator", "name"),
    [
        (ExactComparator(), "ExactComparator"),
        (NumericComparator(), "NumericComparator"),
        (BERTComparator(), "BERTComparator"),
    ],
)
def test_a_built_in_comparator_is_located_by_its_name_of_today(comparator, name):
    assert location_of(comparator) == name
    assert comparator_class(name) is type(comparator)


@pytest.mark.parametrize("location", ["acme_plugin:Plain", "acme_plugin:Outer.Inner"])
def test_another_comparator_is_located_by_its_module(plugins, location):
    cls = comparator_class(location, allow_plugins=True)

    assert location_of(cls()) == location


def test_a_class_of_the_name_of_a_built_in_one_is_not_taken_for_it():
    theirs = type("ExactComparator", (ExactComparator,), {"__module__": "theirs"})

    assert location_of(theirs()) == "theirs:ExactComparator"


@pytest.mark.parametrize(
    ("name", "config", "keyword", "mentions"),
    [
        ("NumericComparator", {"tolerence": 0.1}, "tolerence", ["tolerence", "mean tolerance?"]),
        ("FuzzyComparator", {"method": "token_sort"}, "method", ["token_sort", "token_sort_ratio"]),
        ("DateComparator", {"range_mode": "loose"}, "range_mode", ["loose", "graded"]),
        ("DateComparator", {"precision_mode": "loose"}, "precision_mode", ["loose", "gt_loose"]),
        ("DateComparator", {"tolerance": -1}, "tolerance", ["-1"]),
        ("DateComparator", {"tolerance": True}, "tolerance", ["true"]),
        (
            "NumericComparator",
            {"tolerance": 0.1, "absolute_tolerance": 0.2},
            "tolerance",
            ["tolerance", "absolute_tolerance"],
        ),
        ("LLMComparator", {"eval_guidelines": "be kind"}, None, ["model"]),
    ],
)
def test_a_config_that_cannot_be_used_is_refused(name, config, keyword, mentions):
    with pytest.raises(KeywordError) as caught:
        construct(name, config)

    assert caught.value.keyword == keyword
    assert all(text in str(caught.value) for text in mentions)


@pytest.mark.parametrize(
    ("name", "keyword", "value"),
    [
        *(
            ("ExactComparator", keyword, value)
            for keyword in ("case_sensitive", "strip")
            for value in (1, "true", None)
        ),
        ("LevenshteinComparator", "normalize", 0),
        ("FuzzyComparator", "normalize", "yes"),
        ("StructuredModelComparator", "strict_types", None),
    ],
)
def test_a_flag_that_is_no_boolean_is_refused(name, keyword, value):
    message = f"{keyword} is {json.dumps(value)}, expected true or false"

    with pytest.raises(KeywordError, match=message) as caught:
        construct(name, {keyword: value})

    assert caught.value.keyword == keyword


def test_a_class_by_its_module_is_refused_unless_allowed(plugins):
    with pytest.raises(UnknownComparatorError) as caught:
        comparator_class("acme_plugin:Plain")

    assert "--allow-plugins" in caught.value.hint
    assert "allow_plugins = true" in caught.value.hint
    assert "acme_plugin" not in sys.modules


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("acme_plugin:Missing", "AttributeError"),
        ("acme_missing:Plain", "ModuleNotFoundError"),
        ("acme_broken:Plain", "RuntimeError: no licence"),
        ("acme_plugin:not_a_class", "acme_plugin:not_a_class is not one"),
        ("acme_plugin:Outer", "acme_plugin:Outer is not one"),
    ],
)
def test_a_class_that_cannot_be_used_says_why(plugins, name, cause):
    with pytest.raises(UnknownComparatorError) as caught:
        comparator_class(name, allow_plugins=True)

    assert cause in caught.value.hint


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("Broken", "acme_broken:Judge fails with RuntimeError"),
        ("Twice", "define this name: acme_plugin:A and other:B"),
    ],
)
def test_a_name_of_an_installed_package_that_cannot_be_used_says_why(plugins, name, cause):
    with pytest.raises(UnknownComparatorError) as caught:
        comparator_class(name)

    assert cause in caught.value.hint


def test_an_installed_package_offers_comparators_by_name(plugins):
    assert comparator_class("Plain").__name__ == "Plain"
    assert plugin_names() == ("Broken", "ExactComparator", "Plain", "Twice")


def test_a_package_cannot_take_the_name_of_a_built_in_comparator(plugins):
    assert comparator_class("ExactComparator") is ExactComparator


def test_listing_and_looking_up_load_no_plugin_that_was_not_asked_for(plugins):
    plugin_names()
    comparator_class("Plain")

    assert "acme_broken" not in sys.modules


def test_a_plugin_without_keywords_says_so(plugins):
    with pytest.raises(KeywordError, match="Plain has no keyword unit, expected no keyword"):
        construct("Plain", {"unit": "kg"})


def test_what_a_plugin_raises_concerns_the_configuration_as_a_whole(plugins):
    name = "acme_plugin:Acme"

    with pytest.raises(KeywordError, match="limit must be a number") as caught:
        construct(name, {"limit": "text"}, allow_plugins=True)

    assert caught.value.keyword is None


def test_a_plugin_that_takes_any_keyword_is_given_any(plugins):
    comparator = construct("acme_plugin:Acme", {"limit": 5, "mood": 1}, allow_plugins=True)

    assert (comparator.limit, comparator.others) == (5, {"mood": 1})
    assert comparator.config == {"limit": 5}


def test_a_constructor_argument_without_a_name_is_no_keyword(plugins):
    cls = comparator_class("acme_plugin:Acme", allow_plugins=True)

    assert [(keyword.name, keyword.default) for keyword in keyword_parameters(cls)] == [
        ("limit", 3)
    ]


def test_descriptions_name_every_comparator_its_aliases_and_keywords():
    described = {description.name: description for description in describe()}

    assert set(described) == {comparator_class(name).__name__ for name in BUILT_IN}
    assert described["NumericComparator"].aliases == ("NumericExactC",)
    assert [
        (keyword.name, keyword.default) for keyword in described["ExactComparator"].keywords
    ] == [
        ("threshold", 1.0),
        ("case_sensitive", False),
        ("strip", True),
        ("only_separators", False),
        ("same_type", False),
    ]
    model = described["LLMComparator"].keywords[0]
    assert (model.name, model.default) == ("model", model.empty)
    assert all(description.summary.endswith(".") for description in described.values())


@pytest.mark.parametrize(
    ("boxes", "config", "expected"),
    [
        ("corners", {}, "corners"),
        ("xywh", {}, "xywh"),
        ("xywh", {"format": "corners"}, "corners"),
    ],
)
def test_boxes_have_the_format_of_the_run_where_their_config_states_none(boxes, config, expected):
    comparator = Comparators(boxes=boxes).construct("BBoxIoUComparator", config)

    assert comparator.format == expected
