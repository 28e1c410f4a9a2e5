"""Measure how plainly code is written: vague names, packed calls, and odd English."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

VAGUE_NAMES: Final = frozenset(
    word
    for line in (
        "alone apart around asked at beside both each every everything further found given held",
        "here how idx info inside it its known made many met mine more most obj of one ones others",
        "own part parts piece pieces res rest ret said say says shown so some something stuff",
        "taken that them there these thing things this those tmp told turn up val way ways what",
        "which who whole",
    )
    for word in line.split()
)
"""Names that a reader can only understand from the expression that made their value."""

PUBLIC_NAMES: Final = frozenset({"found", "inside", "whole"})
"""Vague words that are public names of attributes and arguments, explained by their neighbours."""

VAGUE_VERBS: Final = frozenset(
    word
    for line in (
        "asked built given held judged kept known left listed made met named read said seen shown",
        "taken told worth",
    )
    for word in line.split()
)
"""Words that do not name the action or the object of a function if they stand alone."""

RESULT_NAMES: Final = frozenset({"result", "results"})
"""Names that fit the one value that a function returns, and say nothing elsewhere."""

ODD_ENGLISH: Final = re.compile(
    r"^(Of |That of|Those |What |Which |Likewise|The others|Such )"
    r"|\bwhat (is|there|has|was|were|became|it|they|one|a|the|each|others|would|could|can|may)\b"
    r"|\bof (which|whom)\b"
    r"|\bof none\b|\b(is|are) none\b"
    r"|\b[Nn]obody\b|\b[Ww]ho (asks|calls|asked|needs|has|wants|compares|says)\b"
    r"|\bbe it\b|\bbut for\b|\blest\b|\bwhoever\b|\bwhatever\b"
    r"|\b(is|are|was|were) (said|told) of\b|\bsays of\b|\bsaid of\b"
)
"""Turns of phrase that readers had to read twice."""

LIMITS: Final = {
    "vague locals": 3.0,
    "results": 4.0,
    "vague parameters": 3.0,
    "vague attributes": 1.5,
    "vague functions": 1.0,
    "packed calls": 0,
    "odd docstrings": 4.0,
}
"""Largest figure of each kind for a room that has been rewritten: percent, or a number of calls."""


def measure_room(folder: Path) -> dict[str, float]:
    """Measure all modules below a folder; the keys are those of `LIMITS`."""
    totals: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.py")):
        for kind, is_hit in observations(ast.parse(path.read_text(encoding="utf-8"))):
            totals[kind] += 1
            hits[kind] += is_hit
    shares = {kind: round(100 * hits[kind] / max(totals[kind], 1), 1) for kind in LIMITS}
    return {**shares, "packed calls": hits["packed calls"]}


def observations(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each name, call and docstring, and whether it is a hit."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from function_observations(node)
        elif isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    name = statement.target.id
                    yield "vague attributes", name in VAGUE_NAMES - PUBLIC_NAMES
        elif (text := docstring(node)) is not None:
            yield "odd docstrings", ODD_ENGLISH.search(text) is not None


def docstring(node: ast.AST) -> str | None:
    """Return the text of a docstring, of attributes too; None for any other statement."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        text = node.value.value
        return text if isinstance(text, str) else None
    return None


def function_observations(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[str, bool]]:
    """Yield the observations of a function: its name, locals, parameters and packed calls."""
    words = set(function.name.strip("_").split("_"))
    yield "vague functions", words <= VAGUE_NAMES | VAGUE_VERBS
    for name in set(local_names(function)):
        yield "vague locals", name in VAGUE_NAMES
        yield "results", name in RESULT_NAMES
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        is_operand = argument.arg == "other" and function.name.startswith("__")
        if argument.arg not in {"self", "cls"} and not is_operand:
            yield "vague parameters", argument.arg in VAGUE_NAMES - PUBLIC_NAMES
    for _ in range(packed_calls(function)):
        yield "packed calls", True


def local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the names that a function binds, those of nested functions excepted."""
    nodes = list(ast.iter_child_nodes(function))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.Lambda):
            yield from (argument.arg for argument in node.args.args)
        nodes.extend(ast.iter_child_nodes(node))


def packed_calls(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the calls that unpack a tuple which the same function has packed."""
    packed = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return sum(any(unpacks(argument, packed) for argument in call.args) for call in calls)


def unpacks(argument: ast.expr, packed: set[str]) -> bool:
    """Return whether an argument of a call unpacks one of the packed names."""
    return (
        isinstance(argument, ast.Starred)
        and isinstance(argument.value, ast.Name)
        and argument.value.id in packed
    )
