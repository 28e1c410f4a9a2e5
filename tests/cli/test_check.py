"""`stickler check`: schemas, without documents."""

from .conftest import write


def test_a_schema_without_problems_is_told_with_its_name(stickler):
    result = stickler("check", "schema.json")

    assert (result.code, result.out, result.err) == (0, "schema.json: no problems (Order)\n", "")


def test_quiet_says_nothing_of_what_is_right(stickler):
    assert stickler("check", "-q", "schema.json").out == ""


def test_every_problem_of_every_schema_is_told(stickler, data):
    leaf = {"type": "string", "x-aws-stickler-weight": 0, "x-aws-stickler-treshold": 1}
    write(data / "bad.json", {"type": "object", "properties": {"a": leaf}})
    write(data / "worse.json", "{")
    result = stickler("check", "bad.json", "schema.json", "worse.json", "none.json")

    assert result.code == 2
    assert result.out == "schema.json: no problems (Order)\n"
    lines = result.err.splitlines()
    assert len(lines) == 4
    assert "bad.json#/properties/a/x-aws-stickler-weight: weight is 0" in result.err
    assert "did you mean x-aws-stickler-threshold?" in result.err
    assert lines[2].startswith("error: worse.json:1:")
    assert lines[3].startswith("error: none.json: there is no such file or directory")


def test_a_comparator_from_a_module_is_used_only_if_plugins_are_allowed(stickler, data):
    name = "stickler_cli.comparators.exact:ExactComparator"
    leaf = {"type": "string", "x-aws-stickler-comparator": name}
    write(data / "plugin.json", {"type": "object", "properties": {"a": leaf}})

    assert stickler("check", "plugin.json").code == 2
    assert stickler("check", "plugin.json", "--allow-plugins").code == 0


def test_what_describes_nothing_is_refused_whatever_is_inferred(stickler, data):
    write(
        data / "wrapper.json", {"schema": {"type": "object", "properties": {"a": {"type": "null"}}}}
    )

    for options in ([], ["--infer", "never"]):
        result = stickler("check", "wrapper.json", *options)
        assert (result.code, result.out) == (2, "")
        assert "this file contains a schema at /schema" in result.err


def test_eval_warns_of_a_schema_that_describes_nothing(stickler, data):
    write(data / "empty.json", {})

    result = stickler("eval", "empty.json", "gt", "pred", "--infer", "never")

    assert result.code == 0
    assert result.err.startswith(
        "warning: empty.json#: the schema is empty, so it describes no fields"
    )
    assert stickler("eval", "empty.json", "gt", "pred", "--infer", "never", "-q").err == ""


def test_what_is_said_in_vain_is_a_warning(stickler, data):
    leaf = {"type": "string", "enum": ["a", "a"], "discription": "x"}
    write(data / "odd.json", {"type": "object", "properties": {"a": leaf}})

    result = stickler("check", "odd.json", "--infer", "never")

    assert (result.code, result.out) == (0, "odd.json: no problems\n")
    assert result.err == (
        "warning: odd.json#/properties/a/discription: discription is not a keyword of JSON "
        "Schema, so it has no effect; did you mean description?\n"
        'warning: odd.json#/properties/a/enum/1: enum lists "a" twice\n'
    )
    assert "warning" in stickler("eval", "odd.json", "gt", "pred").err
    assert stickler("eval", "odd.json", "gt", "pred", "-q").err == ""


def test_which_arm_is_meant_is_said(stickler, data):
    amount = {"anyOf": [{"type": "number"}, {"type": "string"}]}
    write(data / "union.json", {"type": "object", "properties": {"level": amount}})

    assert stickler("check", "union.json").out == (
        "union.json: no problems\n"
        "  level: compared as number by NumericComparator(unit='same', decimal='auto'), as string "
        "by LevenshteinComparator(same_digits=True, same_words=True); a text that contains a "
        "number is compared as a number\n"
    )
