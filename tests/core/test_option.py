import inspect
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from stickler_cli import evaluate_many
from stickler_cli.cli.commands import settings_of_commands
from stickler_cli.core.option import (
    BYTES,
    NotTakenError,
    NumberRange,
    Settings,
    option,
    options_of,
    options_record,
    paths_named,
    read_settings,
    select_settings,
)
from stickler_cli.core.problems import UsageError
from stickler_cli.settings.deciding import RunOptions
from stickler_cli.settings.of_commands import EvalSettings, ManySettings


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("4096", 4096),
        ("500kB", 500_000),
        ("500 k", 500_000),
        ("200MB", 200_000_000),
        ("1.5gb", 1_500_000_000),
        ("2TB", 2_000_000_000_000),
        ("1KiB", 1024),
        ("0.5 MiB", 524_288),
        ("8B", 8),
    ],
)
def test_a_size_is_read(text: str, size: int):
    assert BYTES.convert(text) == size


@pytest.mark.parametrize(
    "value",
    ["", "0", "0.1", "-5MB", "big", "5 PB", "1e6", "٣MB", "1,5MB", 0, -1, True, 1.5, None],
)
def test_what_is_no_size_is_refused(value: object):
    with pytest.raises(NotTakenError):
        BYTES.convert(value)


def convert_number(value: object, **said: object) -> object:
    """Return the value that a number option makes of `value`; None if it refuses the value."""
    values = NumberRange("a number", lambda number: 0 < number < 10, **said)
    try:
        return values.convert(value)
    except NotTakenError:
        return None


def test_a_number_is_read_of_numbers_only():
    assert convert_number(1) == 1.0
    assert type(convert_number(1)) is float
    assert convert_number("1") is None
    assert convert_number(True) is None
    assert convert_number(float("nan")) is None
    assert convert_number(10**400) is None


def test_a_whole_number_has_no_fraction():
    assert type(convert_number(1, whole=True)) is int
    assert convert_number(1.0, whole=True) is None


def test_beside_a_word_texts_are_read_as_numbers():
    assert convert_number("2.5", word="none") == 2.5
    assert convert_number("none", word="none") == "none"
    assert convert_number("x", word="none") is None
    assert convert_number("2.5", word="none", whole=True) is None
    assert convert_number("2", word="none", whole=True) == 2


def test_on_a_command_line_all_numbers_are_text():
    entries = {"pairing_floor": "0.5", "seed": "7", "ci": "none", "fail_under": ".5", "jobs": "2"}
    settings = read_settings(EvalSettings, entries, parsed=False)
    values = (settings.pairing_floor, settings.seed, settings.ci, settings.fail_under)
    assert (*values, settings.jobs) == (0.5, 7, "none", 0.5, 2)
    with pytest.raises(UsageError):
        read_settings(EvalSettings, {"seed": "7"})
    with pytest.raises(UsageError, match="expected a whole number of at least 0"):
        read_settings(EvalSettings, {"seed": "7.5"}, parsed=False)


@pytest.mark.parametrize(
    ("value", "hint"), [(95, "did you mean 0.95?"), (1, ""), (100, ""), (-3, ""), (0, "")]
)
def test_a_percentage_where_a_share_is_meant_is_told(value: float, hint: str):
    with pytest.raises(NotTakenError) as refused:
        options_of(EvalSettings)["ci"].convert(value)
    assert str(refused.value) == hint


def test_everything_that_is_wrong_is_told_at_once():
    entries = {"pairing_floor": 1, "missing": "skipp", "strict": 0, "gate": 1, "id_field": 3}
    with pytest.raises(UsageError) as refused:
        read_settings(EvalSettings, entries, parsed=False)
    assert str(refused.value).splitlines() == [
        "--pairing-floor: the value is 1, expected a number in [-1, 1)",
        "--missing: the value is 'skipp', expected one of fn, skip, error; did you mean skip?",
        "--strict: the value is 0, expected true or false",
        "--gate: the value is 1, expected a list of strings",
        "--id-field: the value is 3, expected a string",
    ]


def test_one_text_is_a_list_of_one():
    settings = read_settings(EvalSettings, {"by": "kind", "gate": ["f1>=0.5"]}, parsed=False)
    assert (settings.by, settings.gate) == (("kind",), ("f1>=0.5",))


def test_settings_are_values():
    settings = EvalSettings(missing="skip")
    assert settings == EvalSettings(missing="skip") != EvalSettings()
    assert hash(settings) == hash(EvalSettings(missing="skip"))
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 - it is ours
    assert replace(settings, missing="fn") == EvalSettings()
    assert "missing='skip'" in repr(settings)
    with pytest.raises(FrozenInstanceError):
        settings.missing = "fn"
    with pytest.raises(FrozenInstanceError):
        del settings.missing
    with pytest.raises(TypeError, match="mising"):
        EvalSettings(mising="skip")


def test_a_record_of_options_has_lists_for_tuples():
    class Given(Settings):
        """Options that a test declares."""

        names: tuple[str, ...] = option((), "Names.")
        limit: int = option(3, "A limit.")

    assert options_record(Given(names=("a", "b"))) == {"names": ["a", "b"], "limit": 3}


def test_a_group_is_a_part_of_settings():
    settings = EvalSettings(missing="skip", strict=True, jobs=3)
    assert select_settings(settings, RunOptions) == RunOptions(missing="skip", strict=True)


def test_the_keywords_of_evaluate_many_are_its_settings():
    keywords = {
        name: parameter
        for name, parameter in inspect.signature(evaluate_many).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in {"client", "metrics"}
    }
    options = options_of(ManySettings)
    assert keywords.keys() == options.keys() - {"lenient_json"}
    for name, parameter in keywords.items():
        assert (parameter.default, parameter.annotation) == (
            options[name].default,
            options[name].kind,
        )


@pytest.mark.parametrize("settings", [*settings_of_commands().values(), ManySettings])
def test_an_option_takes_its_own_default_and_says_what_it_is_for(settings: type):
    for entry in options_of(settings).values():
        assert entry.convert(entry.default) == entry.default, entry.name
        assert entry.default_text is None or entry.convert(entry.default_text) == entry.default, (
            entry.name
        )
        ends = (".", "terminal", "printed", "run", "NEW")
        assert entry.help.rstrip("]").endswith(ends), entry.name


@pytest.mark.parametrize("settings", [*settings_of_commands().values(), ManySettings])
def test_each_group_of_options_says_what_is_in_it(settings: type):
    assert all(group.__doc__ for group in settings.__mro__)


class FileOptions(Settings):
    """Options that name files."""

    gt: str = option("", "Ground truth.", argument=True, role="input")
    schema: str = option("", "A schema.", argument=True, role="input")
    by_file: str | None = option(None, "What is known.", "FILE", role="input")
    repeat: tuple[str, ...] = option((), "More.", "PRED", role="input")
    output: tuple[str, ...] = option((), "Results.", "FILE", role="output")
    label: tuple[str, ...] = option((), "A word.", "TEXT")


def test_paths_are_listed_by_what_happens_to_them():
    settings = FileOptions(gt="a", schema="s", repeat=("b", "c"), output=("d",), label=("e",))

    inputs = [("GT", "a"), ("the schema", "s"), ("--repeat", "b"), ("--repeat", "c")]
    assert paths_named(settings, "input") == inputs
    assert paths_named(settings, "output") == [("--output", "d")]
    assert paths_named(FileOptions(by_file="f"), "input") == [("--by-file", "f")]


class NumberedOptions(Settings):
    """An argument that takes several files; the last one is the run."""

    names: tuple[str, ...] = option((), "Files.", argument=True, role="input")

    def titles_of_inputs(self, argument):
        return ["GT"] * (len(self.names) - 1) + ["the run"]


def test_settings_can_give_each_file_of_an_argument_a_title():
    paths = [("GT", "a"), ("GT", "b"), ("the run", "c")]
    assert paths_named(NumberedOptions(names=("a", "b", "c")), "input") == paths


@pytest.mark.parametrize("blank", ["", " \t\n"])
@pytest.mark.parametrize("parsed", [True, False])
def test_a_blank_text_is_no_value_of_an_option(blank: str, parsed: bool):
    with pytest.raises(UsageError) as refused:
        read_settings(EvalSettings, {"pair_by": blank, "gate": [blank]}, parsed=parsed)
    message = "expected a text that is not blank; leave the option out to get its default"
    assert str(refused.value).count(message) == 2


def test_the_default_of_an_argument_may_be_blank():
    assert not read_settings(EvalSettings, {"schema": ""}).schema
    assert not read_settings(EvalSettings, {"schema": ""}, parsed=False).schema
