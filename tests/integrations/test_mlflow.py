"""MLflow's own evaluation accepts the scorer."""

import pytest

from stickler_cli import Scorer

SCHEMA = {
    "type": "object",
    "properties": {"vendor": {"type": "string"}, "total": {"type": "number"}},
}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # what it warns of is not ours
def test_an_evaluation_has_a_mean_of_each_field(tmp_path, monkeypatch):
    for name in (
        "MLFLOW_ALLOW_FILE_STORE",
        "MLFLOW_DISABLE_TELEMETRY",
        "LITELLM_LOCAL_MODEL_COST_MAP",
    ):
        monkeypatch.setenv(name, "true")
    monkeypatch.chdir(tmp_path)
    mlflow = pytest.importorskip("mlflow", reason="MLflow IS NOT INSTALLED: nothing is evaluated")
    pytest.importorskip("pandas", reason="PANDAS IS NOT INSTALLED: MLflow evaluates nothing")
    from stickler_cli.integrations.mlflow import extraction

    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    gt = {"vendor": "ACME", "total": 12.5}
    rows = [
        {"inputs": {"page": page}, "outputs": pred, "expectations": {"expected_response": gt}}
        for page, pred in (("one", gt), ("two", {**gt, "total": 1.0}), ("three", "no invoice"))
    ]

    evaluation = mlflow.genai.evaluate(data=rows, scorers=[extraction(Scorer(SCHEMA))])

    means = {name: round(float(mean), 4) for name, mean in evaluation.metrics.items()}
    assert means == {
        "score/mean": 0.5556,  # of 1, 2/3 and 0
        "passed/mean": 0.3333,
        "vendor/mean": 0.6667,
        "total/mean": 0.3333,
    }
