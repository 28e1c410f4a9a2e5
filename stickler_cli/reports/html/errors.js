// The list of errors, and the panel that shows one of them.

// What an error is made of; payload.py writes them.
const [ROW, DOCUMENT, PATH, TYPE, GT, PRED, SIMILARITY, REASON, CLASS, DIFFERING] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

const classText = (name) => (name || "").replaceAll("_", " ");

const Errors = (() => {
  const form = byId("errors-tools");
  const classBox = byId("errors-class");
  let all = [];
  let texts = null;
  let list = null;
  let kept = [];

  const cells = (at) => {
    const error = all[at];
    const values = [GT, PRED].map((side) => element("span", { class: `value ${side === GT ? "gt" : "pred"}${error[side] === null ? " absent" : ""}`, role: "cell" }, shown(error[side])));
    return [
      element("span", { class: "outcome", role: "cell" }, outcomeMark(NAMES[error[TYPE]] || "")),
      element("span", { class: "document", role: "cell" }, visible(error[DOCUMENT])),
      element("span", { class: "path", role: "cell" }, visible(error[PATH])),
      ...values,
      element("span", { class: "similarity right", role: "cell" }, error[SIMILARITY] === null ? "" : error[SIMILARITY].toFixed(3)),
      ...(classBox ? [element("span", { class: "error-class", role: "cell" }, classText(error[CLASS]))] : []),
    ];
  };

  const text = (at) => {
    texts = texts || new Array(all.length);
    texts[at] ??= [all[at][DOCUMENT], all[at][PATH], textOf(all[at][GT]) ?? "", textOf(all[at][PRED]) ?? ""].join("\n").toLowerCase();
    return texts[at];
  };

  const empty = () =>
    byId("errors-field").value
      ? "No error of this field alone: in an item or object that is missed, invented or unlike, values are not listed one by one."
      : "Nothing to show.";

  const filter = () => {
    const find = byId("errors-find").value.trim().toLowerCase();
    const [first, end] = Fields.range.get(byId("errors-field").value) || [-Infinity, Infinity];
    const outcomes = new Set(Array.from(form.querySelectorAll("[name=outcome]:checked"), (box) => box.value.toUpperCase()));
    const wanted = classBox ? classBox.value : "";
    kept = [];
    for (let at = 0; at < all.length; at += 1) {
      const error = all[at];
      if (error[ROW] < first || error[ROW] >= end) continue;
      if (!outcomes.has(NAMES[error[TYPE]])) continue;
      if (wanted && error[CLASS] !== wanted) continue;
      if (find && !text(at).includes(find)) continue;
      kept.push(at);
    }
    list.show(kept);
    byId("errors-count").textContent = kept.length === all.length ? plural(all.length, "error") : `${kept.length.toLocaleString("en")} of ${plural(all.length, "error")}`;
  };

  // Take the filters from a link: field, class and text; whatever it does not name is let through.
  const select = (wanted) => {
    form.reset();
    byId("errors-field").value = Fields.indexOf(wanted.get("field") || "");
    if (classBox) classBox.value = wanted.get("class") || "";
    byId("errors-find").value = wanted.get("find") || "";
    filter();
  };

  const copied = (error) => {
    const raw = (value) => (value === null ? "null" : isCut(value) ? JSON.stringify(`${value[0]}…`) : value);
    const details = { reason: error[REASON], ...(error[DIFFERING] ? { differing_fields: error[DIFFERING] } : {}) };
    const entries = [
      ["document", JSON.stringify(error[DOCUMENT])],
      ["field_path", JSON.stringify(error[PATH])],
      ["non_match_type", JSON.stringify(error[TYPE])],
      ...(error[CLASS] ? [["class", JSON.stringify(error[CLASS])]] : []),
      ["ground_truth_value", raw(error[GT])],
      ["prediction_value", raw(error[PRED])],
      ...(error[SIMILARITY] === null ? [] : [["similarity_score", JSON.stringify(error[SIMILARITY])]]),
      ["details", JSON.stringify(details)],
    ];
    return `{${entries.map(([name, value]) => `"${name}":${value}`).join(",")}}`;
  };

  const show = (at) => {
    const error = all[at];
    if (!error) return;
    const place = kept.indexOf(at);
    const step = (by) => {
      const next = kept[place + by];
      return place >= 0 && next !== undefined ? () => Panel.go(`#error=${next + 1}`) : null;
    };
    const field = Fields.pathOf(error[ROW]);
    Panel.show(
      [element("span", { class: "path" }, visible(error[PATH]))],
      [
        element("p", {}, outcomeMark(NAMES[error[TYPE]]), ` ${MEANINGS[NAMES[error[TYPE]]]}`, error[CLASS] ? ` · ${classText(error[CLASS])}` : "", " · ", visible(error[REASON] || "")),
        error[DIFFERING] ? element("p", {}, "Fields that differ: ", element("span", { class: "path" }, visible(error[DIFFERING].join(", ")))) : null,
        element("div", { class: "sides" }, ...[["gt", "Ground truth"], ["pred", "Prediction"]].map(([side, title]) => element("div", {}, element("h3", {}, title), element("div", { class: "value" }, ...marked(side, error[GT], error[PRED]))))),
        element("p", {}, "Document ", element("a", { href: `#document=${encodeURIComponent(error[DOCUMENT])}` }, visible(error[DOCUMENT])), field ? " · field " : "", field ? element("a", { href: `#field=${encodeURIComponent(field)}` }, visible(field)) : ""),
        element("p", {}, element("button", { type: "button", onclick: (event) => copy(copied(error), event.target) }, "Copy as JSON")),
      ],
      { before: step(-1), after: step(1), place: place < 0 ? "" : `${place + 1} of ${kept.length}` },
    );
  };

  const ofDocument = (id) => {
    const found = [];
    all.forEach((error, at) => error[DOCUMENT] === id && found.push(at));
    return found;
  };

  const start = async () => {
    all = await load("non-matches");
    byId("errors-badge").textContent = all.length.toLocaleString("en");
    const columns = [["outcome", "Outcome"], ["document", "Document"], ["path", "Field"], ["gt", "Ground truth"], ["pred", "Prediction"], ["similarity right", "Similarity"]];
    if (classBox) columns.push(["error-class", "Class"]);
    byId("errors-list").classList.toggle("unclassed", !classBox);
    list = new List(byId("errors-list"), { label: "Errors", columns, cells, empty, open: (at) => Panel.go(`#error=${at + 1}`) });
    filter();
    let waiting = 0;
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, 60);
    });
    form.addEventListener("reset", () => setTimeout(filter));
    form.addEventListener("submit", (event) => event.preventDefault());
  };

  return { start, select, show, ofDocument, row: (at) => all[at] };
})();
