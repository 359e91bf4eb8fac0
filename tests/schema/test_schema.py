"""docs/ccr.schema.json against the examples, the presets, the golden cases and the loader's own keys.

LIST_KEYS names the program of list_keys.c; without it that one test is skipped.
"""
import json
import os
import pathlib
import subprocess

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/ccr.schema.json").read_text())
GOLDEN = sorted(p for p in (ROOT / "tests/golden/config").iterdir() if p.is_dir())

# Wrong in a way that JSON Schema has no words for: the loader alone refuses these.
BEYOND_A_SCHEMA = {
    "account-own-name", "account-twice", "constant-is-variable", "default-group-dangling",
    "default-group-without-groups", "duplicate-account-by-case", "financial-steps-order",
    "formula-and-column", "hist-hours-twice", "number-too-many-digits", "policy-assignment",
    "policy-not-finite", "policy-unknown-variable", "target-sum", "tier-dangling",
    "tier-without-tiers", "user-twice",
} | {p.name for p in GOLDEN if p.name.startswith(("policy-syntax-", "formula-syntax-"))}


class NotStrict(Exception):
    pass


def strict(path):
    """The file as strict JSON: no key twice, no NaN, no number that overflows."""
    def pairs(items):
        keys = [k for k, _ in items]
        if len(keys) != len(set(keys)):
            raise NotStrict("a key twice")
        return dict(items)

    def constant(name):
        raise NotStrict(name)

    try:
        return json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=pairs,
                          parse_constant=constant)
    except ValueError as e:
        raise NotStrict(str(e))


def validator():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    return jsonschema.Draft7Validator(SCHEMA)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.json")) +
                         sorted((ROOT / "src/core/presets").glob("*.json")), ids=lambda p: str(p.relative_to(ROOT)))
def test_examples_and_presets_are_valid(path):
    validator().validate(strict(path))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda p: p.name)
def test_the_schema_agrees_with_the_loader(case):
    right = (case / "expected.txt").read_bytes().startswith(b"right: ")
    try:
        value = strict(case / "input.json")
    except NotStrict:
        assert not right
        return
    if right or case.name in BEYOND_A_SCHEMA:
        validator().validate(value)
    else:
        assert list(validator().iter_errors(value)), "only the loader refuses this"


def test_the_list_of_exceptions_is_real():
    assert BEYOND_A_SCHEMA <= {p.name for p in GOLDEN}


def resolve(node):
    while "$ref" in node:
        assert node["$ref"].startswith("#/definitions/")
        node = SCHEMA["definitions"][node["$ref"].rsplit("/", 1)[1]]
    return node


def closed_objects(node, path=""):
    """(section, key) of every object of the schema that lists its keys, as the loader names them."""
    node = resolve(node)
    for part in node.get("anyOf", []) + node.get("allOf", []):
        if "properties" not in node:
            yield from closed_objects(part, path)
    for key, child in node.get("properties", {}).items():
        yield path, key
        yield from closed_objects(child, (path + "." + key).lstrip("."))
    each = node.get("additionalProperties")
    if isinstance(each, dict):
        yield from closed_objects(each, path + ".*")
    if isinstance(node.get("items"), dict):
        yield from closed_objects(node["items"], path + "[]")


def test_the_schema_and_the_loader_know_the_same_keys():
    program = os.environ.get("LIST_KEYS")
    if not program:
        pytest.skip("LIST_KEYS is not set")
    loader = {tuple(line.split("\t")) for line in
              subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()}
    presets = {key for section, key in loader if section == "preset"}
    loader = {(s, k) for s, k in loader if s != "preset"}
    # The four rules of "financial" share one form, which the loader lists once.
    schema = {(("financial.*[]" if s.startswith("financial.") else s), k)
              for s, k in closed_objects(SCHEMA)}
    assert len(loader) > 50
    assert schema == loader
    assert set(SCHEMA["properties"]["preset"]["enum"]) == presets
    assert presets == {p.stem for p in (ROOT / "src/core/presets").glob("*.json")}


def test_every_key_is_in_the_manual():
    program = os.environ.get("LIST_KEYS")
    if not program:
        pytest.skip("LIST_KEYS is not set")
    page = (ROOT / "docs/man/ccr.json.5").read_text()
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    missing = [line for line in out.splitlines() if "Cm " + line.split("\t")[1] not in page]
    assert not missing
