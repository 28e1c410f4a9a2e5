// What a person says of errors, as lines of `stickler-verdict/1`.

const VERDICTS = [
  ["prediction_right", "Prediction right", "The prediction is right after all"],
  ["ground_truth_wrong", "Ground truth wrong", "The ground truth is wrong, and is to be mended"],
  ["both_acceptable", "Both acceptable", "Both are ways to say the same"],
  ["neither", "Neither", "Neither is right, and the error stands"],
];

const Verdicts = (() => {
  const kept = keptVerdicts(() => Errors.redraw());
  const keyOf = (error) => JSON.stringify([error[DOCUMENT], error[PATH], error[OUTCOME]]);
  const of = (error) => kept.of(keyOf(error));

  const lineOf = (error, verdict) => {
    const sides = [["gt", error[GT]], ["pred", error[PRED]]].filter(([, value]) => !isCut(value)).map(([side, value]) => `"${side}":${value ?? "null"}`);
    const { schema, semantics } = facts;
    const entries = { format: "stickler-verdict/1", semantics, schema, document: error[DOCUMENT], path: error[PATH], outcome: error[OUTCOME] };
    const texts = Object.entries(entries).map(([key, value]) => `"${key}":${JSON.stringify(value)}`);
    return `{${[...texts, ...sides, `"verdict":"${verdict}"`, `"time":"${new Date().toISOString()}"`].join(",")}}`;
  };

  const say = (error, verdict) => kept.say(keyOf(error), verdict, lineOf(error, verdict));

  const buttons = (error) => {
    const made = VERDICTS.map(([name, text, meaning], at) =>
      element(
        "button",
        {
          type: "button",
          title: `${meaning} (key ${at + 1})`,
          "data-verdict": name,
          "aria-pressed": String(of(error) === name),
          onclick: () => {
            say(error, name);
            for (const button of made) button.setAttribute("aria-pressed", String(of(error) === button.dataset.verdict));
            Errors.redraw();
          },
        },
        text,
      ),
    );
    return element("fieldset", { class: "judge" }, element("legend", {}, "Your verdict"), ...made);
  };

  const start = () => {
    kept.open(elementsOf("[data-page]")[0].dataset.page);
    if (!facts.runs) byId("errors-tools").after(kept.bar); // of several runs nobody judges values
  };

  return { start, of, say, buttons };
})();
