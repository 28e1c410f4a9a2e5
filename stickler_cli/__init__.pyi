from stickler_cli.comparators import (
    BaseComparator,
    BBoxIoUComparator,
    BERTComparator,
    BertComparator,
    DateComparator,
    ExactComparator,
    FuzzyComparator,
    LevenshteinComparator,
    LLMComparator,
    NumericComparator,
    NumericExactC,
    SemanticComparator,
    StructuredModelComparator,
)
from stickler_cli.compare.plan import Options
from stickler_cli.errors import (
    ComparisonError,
    SchemaError,
    SticklerError,
    UnavailableError,
    UsageError,
)
from stickler_cli.metrics.evaluation import Evaluation
from stickler_cli.models.evaluator import StructuredModelEvaluator
from stickler_cli.models.fields import ComparableField
from stickler_cli.models.structured import StructuredModel
from stickler_cli.models.views import NonMatchField, NonMatchType
from stickler_cli.models.zero import EvalResult, evaluate
from stickler_cli.runs.many import evaluate_many

__all__ = [
    "BBoxIoUComparator",
    "BERTComparator",
    "BaseComparator",
    "BertComparator",
    "ComparableField",
    "ComparisonError",
    "DateComparator",
    "EvalResult",
    "Evaluation",
    "ExactComparator",
    "FuzzyComparator",
    "LLMComparator",
    "LevenshteinComparator",
    "NonMatchField",
    "NonMatchType",
    "NumericComparator",
    "NumericExactC",
    "Options",
    "SchemaError",
    "SemanticComparator",
    "SticklerError",
    "StructuredModel",
    "StructuredModelComparator",
    "StructuredModelEvaluator",
    "UnavailableError",
    "UsageError",
    "__version__",
    "evaluate",
    "evaluate_many",
]
__version__: str
