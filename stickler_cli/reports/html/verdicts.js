// The verdicts of a reader on errors, downloaded as records `stickler-verdict/1`.

// Name, text of the button, and meaning of each verdict.
const VERDICTS = [
  ["prediction_right", "Prediction right", "The prediction is right after all"],
  ["ground_truth_wrong", "Ground truth wrong", "The ground truth is wrong, and should be corrected"],
  ["both_acceptable", "Both acceptable", "Both mean the same"],
  ["neither", "Neither", "Neither is right; the error remains"],
];

const Verdicts = (() => {
  const verdicts = keptVerdicts(() => Errors.redraw());
  const keyOf = (error) => JSON.stringify([error[DOCUMENT], error[PATH], error[OUTCOME]]);
  const of = (error) => verdicts.of(keyOf(error));

  const lineOf = (error, verdict) => {
    const sides = [["gt", error[GT]], ["pred", error[PRED]]].filter(([, value]) => !isCut(value)).map(([side, value]) => `"${side}":${value ?? "null"}`);
    const { schema, semantics } = facts;
    const entries = { format: "stickler-verdict/1", semantics, schema, document: error[DOCUMENT], path: error[PATH], outcome: error[OUTCOME] };
    const texts = Object.entries(entries).map(([key, value]) => `"${key}":${JSON.stringify(value)}`);
    return `{${[...texts, ...sides, `"verdict":"${verdict}"`, `"time":"${new Date().toISOString()}"`].join(",")}}`;
  };

  const toggle = (error, verdict) => verdicts.toggle(keyOf(error), verdict, lineOf(error, verdict));

  const buttons = (error) => {
    const verdictButtons = VERDICTS.map(([name, text, meaning], index) =>
      element(
        "button",
        {
          type: "button",
          title: `${meaning} (key ${index + 1})`,
          "data-verdict": name,
          "aria-pressed": String(of(error) === name),
          onclick: () => {
            toggle(error, name);
            for (const button of verdictButtons) button.setAttribute("aria-pressed", String(of(error) === button.dataset.verdict));
            Errors.redraw();
          },
        },
        text,
      ),
    );
    return element("fieldset", { class: "judge" }, element("legend", {}, "Your verdict"), ...verdictButtons);
  };

  const start = () => {
    verdicts.restore(elementsOf("[data-page]")[0].dataset.page);
    if (!facts.runs) byId("errors-tools").after(verdicts.bar); // values are not judged on a page of several runs
  };

  return { start, of, toggle, buttons };
})();
