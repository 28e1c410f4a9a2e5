"""The HTML page of a policy: of each field, error against coverage."""

from stickler_cli.reports.policy_tables import name_of, outcome_of, promise_of
from stickler_cli.score.policy import AcceptancePolicy, FieldPolicy
from .filling import POLICY, filled
from .trust_charts import CoverageChart, coverage_chart


def policy_page(policy: AcceptancePolicy) -> str:
    """Return the picture of a policy as an HTML page; ends with a line break."""
    context: dict[str, object] = {
        "policy": POLICY,
        "digest": policy.digest[:8],
        "promise": promise_of(policy),
        "fields": [(name_of(it), outcome_of(it), _curve(it, policy)) for it in policy.fields],
    }
    return filled("policy_page.html.j2", context)


def _curve(it: FieldPolicy, policy: AcceptancePolicy) -> CoverageChart:
    chosen = None
    if it.error is not None and it.bound is not None:
        chosen = it.accepted, it.error, it.bound
    curve = [(coverage, error) for coverage, error in it.curve]
    return coverage_chart(curve, chosen, policy.asked.max_error)
