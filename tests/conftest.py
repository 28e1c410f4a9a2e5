"""How Hypothesis searches: the same examples everywhere by default, more of them on request.

`pytest --hypothesis-profile=search` looks for new counterexamples.
"""

from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, not about the law.
settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "search", settings.get_profile("ci"), derandomize=False, max_examples=2000
)
settings.load_profile("ci")
