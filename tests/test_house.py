"""Rules for the code of the whole program, checked in its syntax trees."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import stickler_cli
from .plain_language import LIMITS, measure_room

pytestmark = pytest.mark.slow  # it reads all modules

ROOT = Path(stickler_cli.__file__).parent
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))

LATE_IMPORTS: Final = {
    ("__main__.py", "stickler_cli.cli"): "what the process is like is decided before",
    ("api/many.py", "stickler_cli.clients.client"): "few runs ask models",
    ("api/many.py", "stickler_cli.api.ruled"): "few schemas are pydantic classes",
    ("cli/commands.py", "stickler_cli.studies.registry"): "most runs are no study",
    ("cli/command.py", "stickler_cli.cli.config"): "asked for none, none is looked for",
    ("cli/command.py", "stickler_cli.runs.saved"): "few commands read runs",
    ("cli/finished.py", "stickler_cli.cli.regrouping"): "few reports compare again",
    ("cli/eval.py", "stickler_cli.runs.gold_writing"): "few runs change the ground truth",
    ("cli/eval.py", "stickler_cli.studies.repeats"): "few runs are repeated",
    ("cli/outputs.py", "stickler_cli.reports.github"): "other formats do not load it",
    ("cli/outputs.py", "stickler_cli.runs.page_sources"): "few pages show documents",
    ("cli/command_schema.py", "stickler_cli.api.ruled"): "few schemas are models",
    ("clients/judge.py", "pydantic_ai"): "comes with an extra",
    ("clients/servers.py", "botocore.session"): "comes with an extra",
    ("clients/servers.py", "genai_prices"): "comes with an extra",
    ("api/reference/doc_split.py", "scipy.stats"): "1 s that few programs pay",
    ("api/many.py", "stickler_cli.api.schemaless"): "loads pydantic; few runs have no schema",
    ("api/structured.py", "stickler_cli.api.inferring"): "loads inference; few classes are made so",
    ("comparators/phone.py", "phonenumbers"): "comes with an extra",
    ("documents/document.py", "stickler_cli.documents.lenient"): "most documents stand alone",
    ("documents/document_tables.py", "stickler_cli.documents.arrow_sizes"): "few runs read Arrow",
    ("documents/document_tables.py", "stickler_cli.documents.csv_rows"): "few runs read CSV",
    ("documents/lines.py", "stickler_cli.documents.csv_rows"): "few runs read CSV",
    ("documents/lines.py", "sqlite3"): "10 ms that most runs never pay",
    ("documents/pairs.py", "stickler_cli.documents.name_patterns"): "few names need a pattern",
    ("runs/hints.py", "stickler_cli.documents.name_patterns"): "in few runs names do not pair",
    ("core/problems.py", "importlib.metadata"): "reads the disk; few names need plugins",
    ("core/remote.py", "stickler_cli.core.threads"): "loads logging; most files are local",
    ("core/problems.py", "rapidfuzz*"): "few runs ask for a spelling",
    ("comparators/anls.py", "scipy.optimize"): "few schemas ask for it",
    ("compare/assignment.py", "scipy.optimize"): "its home: 0.4 s that most runs never pay",
    ("compare/plan.py", "stickler_cli.clients.client"): "few plans ask models",
    ("studies/diff/significance.py", "scipy.special"): "few differences are of several runs",
    ("runs/evaluate.py", "stickler_cli.runs.executors.dask_cluster"): "Dask is an extra, and large",
    ("reports/run_sections.py", "stickler_cli.reports.error_list"): "few runs list errors",
    ("reports/tables.py", "stickler_cli.score.policy"): "few runs have a policy",
    ("runs/assembly.py", "stickler_cli.runs.saved"): "few runs read files of earlier ones",
    ("runs/evaluate.py", "rich"): "few runs show a bar, and it is large",
    ("runs/assembly.py", "stickler_cli.records.row_files"): "most runs write reports alone",
    ("runs/chunk.py", "stickler_cli.runs.chunk_parts"): "most runs want figures alone",
    ("runs/process.py", "stickler_cli.compare.assignment"): "few processes have a limit",
    ("runs/evaluate.py", "stickler_cli.runs.executors.pool"): "loads multiprocessing",
    ("runs/evaluate.py", "stickler_cli.runs.unused_keys"): "few runs leave out or rename keys",
    ("runs/evaluate.py", "stickler_cli.runs.keeping"): "most runs write reports alone",
    ("schema/references.py", "jsonschema_specifications"): "reads the disk; few schemas need it",
    ("schema/inference/*.py", "stickler_cli.schema.inference.code_forms"): "compiles patterns that"
    " only unannotated schemas need",
    ("schema/inference/observation.py", "stickler_cli.comparators.date_parsing"): "loads dateutil",
    ("schema/judging.py", "jsonschema_rs"): "its home: plain schemas and runs without need none",
    ("schema/schema_problems.py", "jsonschema"): "few schemas are wrong",
    ("score/policy.py", "scipy.special"): "few runs bound an error",
    ("score/confidence/calibration.py", "scipy.special"): "few predictions have confidences",
    ("score/errors/confusions.py", "stickler_cli.comparators.date_parsing"): "loads dateutil",
}
"""Imports inside functions, with their place and reason. All other imports are at the top."""

MUTABLE: Final = frozenset(
    {
        "Counter",
        "OrderedDict",
        "WeakKeyDictionary",
        "WeakValueDictionary",
        "bytearray",
        "defaultdict",
        "deque",
        "dict",
        "list",
        "set",
    }
)
"""Classes whose values can change."""

CHANGING: Final = frozenset(
    {
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    }
)
"""Methods that change their object."""

CACHES: Final = {
    ("api/zero.py", "_of_classes"): "functools.cache would keep classes that nobody else has",
    ("documents/lines.py", "_LOOKED_INTO"): "a pipe gives its bytes once, to whoever asks first",
    ("core/remote.py", "_remembered_secrets"): "any message may quote a URL of the command line",
}
"""Names of modules whose values change while the program runs; no result depends on them."""


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


@cache
def nodes_of(module: str) -> list[ast.AST]:
    return [*ast.walk(tree_of(module))]


def nodes_in_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes inside the functions of a module."""
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from (ast.walk if is_function else nodes_in_functions)(child)


def origin(module: str, node: ast.ImportFrom) -> str:
    """Return the module that an import names, also if the import is relative."""
    room = ".".join(("stickler_cli", *Path(module).parts[:-1]))
    return f"{room}.{node.module}" if node.level else node.module


def file_of(name: str) -> str:
    """Return the file of a module, given its dotted name, as a key of `MODULES`."""
    return f"{name.removeprefix('stickler_cli.').replace('.', '/')}.py"


def late_imports(module: str) -> Iterator[str]:
    """Return the modules that are imported inside the functions of a module."""
    for node in nodes_in_functions(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            room = origin(module, node)
            each = (f"{room}.{name.name}" for name in node.names)
            yield from (it if file_of(it) in MODULES else room for it in each)


def collections_of(module: str) -> Iterator[tuple[str, ast.stmt]]:
    """Yield (name, statement) for each name of a module whose value is a list, dict or the like."""
    for node in tree_of(module).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_collection(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.id, node


def is_collection(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in MUTABLE
    displays = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
    return isinstance(value, displays)


def changed_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names whose values are changed in place anywhere."""
    for node in nodes:
        match node:
            case ast.Subscript(value=ast.Name(name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.AugAssign(target=ast.Name(name)):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(name), attr=method)):
                if method in CHANGING:
                    yield name


def test_imports_stand_at_the_top_but_where_there_is_a_reason():
    late = {(module, imported) for module in MODULES for imported in late_imports(module)}
    accepted = {
        place: {
            import_
            for import_ in late
            if fnmatch(import_[0], place[0]) and fnmatch(import_[1], place[1])
        }
        for place in LATE_IMPORTS
    }
    assert late - set().union(*accepted.values()) == set()
    assert [place for place, imports in accepted.items() if not imports] == []


FOREIGN_PRIVATE_NAMES: Final = {
    ("clients/servers.py", "_endpoint"): "bounds what botocore reads; it has no public hook",
    ("runs/executors/pool.py", "_inheriting"): "tells a worker that is importing a script",
}
"""Private names of other projects, with the places that use them, and the reasons."""

DOCUMENTED_NAMES: Final = frozenset(
    {
        *("_asdict", "_field_defaults", "_fields", "_make", "_replace"),  # of named tuples
        "_exit",  # of `os`, for children of a fork
        "_typeshed",  # types of the standard library, for type checkers alone
    }
)
"""Names that begin with an underscore, but are documented by their projects."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED_NAMES


def private_names_bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Return the private names of a module's own functions, classes and attributes."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name("self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


def private_names_used(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Return the private attributes, and private modules of other projects, that a module uses."""
    for node in nodes:
        match node:
            case ast.Attribute(attr=name):
                yield name
            case ast.Call(
                func=ast.Name("getattr" | "setattr" | "hasattr" | "delattr"),
                args=[_, ast.Constant(str(name)), *_],
            ):
                yield name
            case ast.Import(names=names):
                yield from (segment for alias in names for segment in alias.name.split("."))
            case ast.ImportFrom(module=str(module), level=0, names=names):
                if not module.startswith("stickler_cli"):
                    yield from (*module.split("."), *(alias.name for alias in names))


def foreign_private_names(modules: Mapping[str, Sequence[ast.AST]]) -> set[tuple[str, str]]:
    own = {name for nodes in modules.values() for name in private_names_bound(nodes)}
    return {
        (module, name)
        for module, nodes in modules.items()
        for name in private_names_used(nodes)
        if is_private(name) and name not in own
    }


def test_private_names_of_other_projects_have_a_reason():
    found = foreign_private_names({module: nodes_of(module) for module in MODULES})
    assert found == set(FOREIGN_PRIVATE_NAMES)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("client._endpoint", {"_endpoint"}),
        ("setattr(parameter, '_runtime', 1)", {"_runtime"}),
        ("import numpy._core.umath", {"_core"}),
        ("from typer._click import Context", {"_click"}),
        ("from typer import _click", {"_click"}),
        ("from stickler_cli.core import _own", set()),
        ("from ._own import name", set()),
        ("class A:\n def __init__(self): self._kept = 1\nA()._kept", set()),
        ("point._replace(x=1).__dict__", set()),
    ],
)
def test_private_names_of_other_projects_are_seen(code, names):
    assert foreign_private_names({"a.py": [*ast.walk(ast.parse(code))]}) == {
        ("a.py", name) for name in names
    }


def test_no_two_modules_have_one_name():
    """But for the parts that every study has, and their registry."""
    stems = {"question", "answer", "record", "sections", "registry"}
    alike = {path for path in MODULES if path.startswith("studies/") and Path(path).stem in stems}
    names = Counter(Path(module).stem for module in MODULES if module not in alike)
    assert [name for name, count in names.items() if count > 1] == ["__init__"]


TYPES_OF_ONE_NAME: Final = {
    "Evaluation": "that of users adds methods to that of the program",
    "Extraction": "an adapter of two frameworks, as each calls it",
    "Side": "`gt` or `pred`: documents and results may not import each other",
}
"""Names that are used for types in two modules, with the reasons."""


def types_of(module: str) -> Iterator[str]:
    """Return the names of the classes and type aliases that a module defines."""
    for node in tree_of(module).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(name), annotation=ast.Name("TypeAlias")):
                yield name
            case ast.Assign(targets=[ast.Name(name)], value=ast.Subscript() | ast.BinOp()):
                if not name.isupper():
                    yield name


def test_a_type_has_a_name_of_its_own():
    homes = Counter(name for module in MODULES for name in {*types_of(module)})
    assert {name for name, count in homes.items() if count > 1} == set(TYPES_OF_ONE_NAME)


def test_no_function_assigns_a_name_of_its_module():
    assert [
        module
        for module in MODULES
        if any(isinstance(node, ast.Global) for node in nodes_of(module))
    ] == []


def test_what_a_module_holds_is_final():
    assert [
        (module, name)
        for module in MODULES
        for name, node in collections_of(module)
        if name != "__all__" and module != "__init__.py"  # which loads no typing, as it takes time
        if not isinstance(node, ast.AnnAssign)
        or not ast.unparse(node.annotation).startswith("Final")
    ] == []


def test_what_a_module_holds_is_never_changed():
    bound = {(module, name) for module in MODULES for name, _ in collections_of(module)}
    names = {name for _, name in bound}
    changed = set()
    for module in MODULES:
        for name in {*changed_names(nodes_of(module))} & names:
            sources = {module} | {
                file_of(origin(module, node))
                for node in tree_of(module).body
                if isinstance(node, ast.ImportFrom)
                if name in {alias.asname or alias.name for alias in node.names}
            }
            changed |= {(source, name) for source in sources} & bound
    assert changed == set(CACHES)


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("A[0] = 1", ["A"]),
        ("del A[0]", ["A"]),
        ("A |= {1}", ["A"]),
        ("def f(): A.append(1)", ["A"]),
        ("A[0]", []),
        ("A.get(1)", []),
    ],
)
def test_changes_are_seen(code, changed):
    assert [*changed_names(ast.walk(ast.parse(code)))] == changed


TRIED_BY_THE_GATE: Final = frozenset(
    [
        "PIL",
        "anls_star",
        "anthropic",
        "atheris",
        "axe_playwright_python",
        "backports",
        "boto3",
        "botocore",
        "distributed",
        "duckdb",
        "fsspec",
        "mapie",
        "model2vec",
        "moto",
        "openai",
        "pandas",
        "phonenumbers",
        "playwright",
        "polars",
        "pyarrow",
        "pycocotools",
        "pydantic_ai",
        "pypdfium2",
        "s3fs",
        "sklearn",
    ]
)
"""Packages that tests need, but that `.[dev]` does not install."""


def test_tests_can_be_collected_with_what_dev_installs():
    tests = Path(__file__).parent
    texts = {file: file.read_text(encoding="utf-8") for file in tests.rglob("*.py")}
    imports = re.compile(rf"^(import|from) ({'|'.join(TRIED_BY_THE_GATE)})\b", re.MULTILINE)
    unlisted = {
        (file.relative_to(tests).as_posix(), name)
        for file, text in texts.items()
        if imports.search(text)  # few need to be parsed
        for node in ast.parse(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or node.names[0].name]
        if name.partition(".")[0] in TRIED_BY_THE_GATE
    }
    assert unlisted == set()


FIGURES: Final = {
    # `of`, the figure that is the score, is a public argument of adapters.
    "integrations": {"vague parameters": 4.3, "vague attributes": 50.0},
}
"""Figures of directories that exceed the limits. They may only fall, and are removed when the
directory is rewritten."""


@pytest.mark.parametrize(
    "room", sorted({module.split("/")[0] for module in MODULES if "/" in module})
)
def test_a_room_is_written_no_less_plainly_than_before(room):
    allowed = {**LIMITS, **FIGURES.get(room, {})}
    figures = measure_room(ROOT / room)
    assert {kind: figure for kind, figure in figures.items() if figure > allowed[kind]} == {}
