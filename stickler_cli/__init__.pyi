from stickler_cli.api.batches import evaluate_batch, merge_states
from stickler_cli.api.eval_result import (
    ComparisonResult,
    EvalResult,
    EvaluatorResult,
    NonMatchField,
    NonMatchType,
)
from stickler_cli.api.evaluation_views import Evaluation
from stickler_cli.api.fields import ComparableField
from stickler_cli.api.many import evaluate_many
from stickler_cli.api.reference.evaluators import (
    BulkStructuredModelEvaluator,
    ProcessEvaluation,
    StructuredModelEvaluator,
    aggregate_from_comparisons,
)
from stickler_cli.api.scorer import EvalSpec, Scored, Scorer
from stickler_cli.api.structured import StructuredModel
from stickler_cli.api.zero import assert_matches, eval_for, evaluate
from stickler_cli.comparators import (
    ANLSStarComparator,
    BaseComparator,
    BBoxIoUComparator,
    BERTComparator,
    BertComparator,
    CaseInsensitiveComparator,
    CodeComparator,
    DateComparator,
    EnumComparator,
    ExactComparator,
    FuzzyComparator,
    LevenshteinComparator,
    LLMComparator,
    NormalizedComparator,
    NumericComparator,
    NumericExactC,
    PhoneComparator,
    SemanticComparator,
    StructuredModelComparator,
    TimeComparator,
)
from stickler_cli.comparators.anls import anls_score, anls_star_numbers
from stickler_cli.compare.plan import Options
from stickler_cli.core.problems import (
    ComparisonError,
    SchemaError,
    SticklerError,
    UnavailableError,
    UsageError,
    WorkerDiedError,
)

__all__ = [
    "ANLSStarComparator",
    "BBoxIoUComparator",
    "BERTComparator",
    "BaseComparator",
    "BertComparator",
    "BulkStructuredModelEvaluator",
    "CaseInsensitiveComparator",
    "CodeComparator",
    "ComparableField",
    "ComparisonError",
    "ComparisonResult",
    "DateComparator",
    "EnumComparator",
    "EvalResult",
    "EvalSpec",
    "Evaluation",
    "EvaluatorResult",
    "ExactComparator",
    "FuzzyComparator",
    "LLMComparator",
    "LevenshteinComparator",
    "NonMatchField",
    "NonMatchType",
    "NormalizedComparator",
    "NumericComparator",
    "NumericExactC",
    "Options",
    "PhoneComparator",
    "ProcessEvaluation",
    "SchemaError",
    "Scored",
    "Scorer",
    "SemanticComparator",
    "SticklerError",
    "StructuredModel",
    "StructuredModelComparator",
    "StructuredModelEvaluator",
    "TimeComparator",
    "UnavailableError",
    "UsageError",
    "WorkerDiedError",
    "__version__",
    "aggregate_from_comparisons",
    "anls_score",
    "anls_star_numbers",
    "assert_matches",
    "eval_for",
    "evaluate",
    "evaluate_batch",
    "evaluate_many",
    "merge_states",
]
__version__: str
