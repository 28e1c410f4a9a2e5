// The list of errors, and the panel that shows one of them.

// What an error is made of; payload.py writes them.
const [ROW, DOCUMENT, PATH, TYPE, GT, PRED, SIMILARITY, REASON, CLASS, DIFFERING, INSIDE, VALUES, CAUSE] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

const classText = (name) => (name || "").replaceAll("_", " ");
const outcomeOf = (error) => NAMES[error[TYPE]] || "";

// The address of an error: its document and path, and its side where the path is that of the prediction.
const placeOf = (error) => ({ document: error[DOCUMENT], path: error[PATH], ...(outcomeOf(error) === "FA" ? { as: "fa" } : {}) });
const isAt = (error, { document, path, as }) => error[PATH] === path && error[DOCUMENT] === document && (!as || outcomeOf(error).toLowerCase() === as);

// A path without the indexes of lists.
const fieldOf = (path) => path.replace(/\["(?:[^"\\]|\\.)*"\]|\[\d+\]/g, (step) => (step[1] === '"' ? step : ""));

const Errors = (() => {
  const form = byId("errors-tools");
  const controls = Object.fromEntries(["find", "field", "class", "sort", "group"].map((key) => [key, byId(`errors-${key}`)]));
  const boxes = Array.from(form.querySelectorAll("[name=outcome]"));
  let all = [];
  let list = null;
  let kept = []; // errors that are let through, in order
  let groups = null; // [{ key, title, first, count }], their errors one after the other
  let shut = new Set();
  let lines = []; // what the list shows: groups, and positions in `kept`
  let applied = "";

  const cells = (at) => {
    const error = kept[at];
    const value = (side, name) => element("span", { class: `value ${name}${error[side] === null ? " absent" : ""}` }, shown(error[side]));
    return [
      element("span", { class: "outcome" }, outcomeMark(outcomeOf(error))),
      element("span", { class: "document" }, visible(error[DOCUMENT])),
      element("span", { class: "path" }, visible(error[PATH])),
      value(GT, "gt"),
      value(PRED, "pred"),
      element("span", { class: "similarity right" }, error[SIMILARITY] === null ? "" : error[SIMILARITY].toFixed(3)),
      ...(controls.class ? [element("span", { class: "error-class" }, classText(error[CLASS]))] : []),
    ];
  };

  const pairOf = (error) => `${shown(error[GT])} → ${shown(error[PRED])}`;

  const KEYS = {
    document: (error) => error[DOCUMENT],
    field: (error) => fieldOf(error[PATH]),
    class: (error) => classText(error[CLASS]),
    cause: (error) => causes[error[CAUSE]]?.text ?? "",
    pair: pairOf,
    outcome: outcomeOf,
    similarity: (error) => error[SIMILARITY] ?? -1,
    gt: (error) => shown(error[GT]),
    pred: (error) => shown(error[PRED]),
  };

  // What a state lets through.
  const filterOf = (state) => {
    const { find, field, class: name, outcome } = state;
    const tests = narrowed(state).map(({ test }) => test);
    const text = find.trim().toLowerCase();
    const range = Fields.range(field);
    if (range) tests.push((error) => error[ROW] >= range[0] && error[ROW] < range[1]);
    else if (field) tests.push((error) => error[PATH] === field || fieldOf(error[PATH]) === field);
    if (name) tests.push((error) => error[CLASS] === name);
    if (outcome.length) tests.push((error) => outcome.includes(outcomeOf(error).toLowerCase()));
    if (text) tests.push((error) => [error[DOCUMENT], error[PATH], textOf(error[GT]) ?? "", textOf(error[PRED]) ?? ""].some((part) => part.toLowerCase().includes(text)));
    return (error) => tests.every((test) => test(error));
  };

  const sorted = (errors, order) => {
    const key = order.replace(/^-/, "");
    if (!KEYS[key]) return errors;
    const sign = order.startsWith("-") ? -1 : 1;
    const keyed = errors.map((error) => [KEYS[key](error), error]);
    keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
    return keyed.map(([, error]) => error);
  };

  // Put errors that have a key in common one after the other, the most frequent first.
  const grouped = (errors, name) => {
    if (!KEYS[name]) return [errors, null];
    const found = new Map();
    for (const error of errors) {
      const key = KEYS[name](error);
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(error);
    }
    const ranked = [...found].sort(([a, many], [b, others]) => others.length - many.length || (a < b ? -1 : 1));
    let first = 0;
    const made = ranked.map(([key, own]) => {
      first += own.length;
      return { group: key, title: visible(String(key)) || "none", first: first - own.length, count: own.length };
    });
    return [ranked.flatMap(([, own]) => own), made];
  };

  const draw = () => {
    lines = [];
    if (!groups) lines = kept.map((_, at) => at);
    for (const group of groups || []) {
      const folded = shut.has(group.group);
      lines.push({ ...group, folded, note: plural(group.count, "error") });
      if (!folded) for (let at = group.first; at < group.first + group.count; at += 1) lines.push(at);
    }
    list.show(lines.length, (index) => lines[index], { grouped: Boolean(groups), order: State.now.errors.sort });
  };

  const fold = (group) => {
    const at = list.active;
    if (!shut.delete(group)) shut.add(group);
    draw();
    list.move(at);
  };

  const apply = (state) => {
    const wanted = JSON.stringify(state.errors);
    if (wanted === applied) return;
    applied = wanted;
    const { errors } = state;
    for (const [key, control] of Object.entries(controls)) {
      if (!control || control.value === errors[key]) continue;
      if (control.tagName === "SELECT" && errors[key] && ![...control.options].some((each) => each.value === errors[key])) {
        control.append(element("option", { value: errors[key] }, visible(errors[key])));
      }
      control.value = errors[key];
    }
    for (const box of boxes) box.checked = !errors.outcome.length || errors.outcome.includes(box.value);
    byId("errors-chosen").replaceChildren(...chips(errors));
    shut = new Set();
    const found = sorted(all.filter(filterOf(errors)), errors.sort);
    [kept, groups] = grouped(found, errors.group);
    draw();
    byId("errors-count").textContent = kept.length === all.length ? plural(all.length, "error") : `${kept.length.toLocaleString("en")} of ${plural(all.length, "error")}`;
  };

  // Filters that have no control of their own, each with a button that takes it away.
  const chips = (errors) =>
    narrowed(errors).map(({ key, text }) => element("button", { type: "button", class: "chip", onclick: () => State.change("errors", { [key]: "" }) }, `${text} ✕`));

  const read = () => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    const values = Object.fromEntries(Object.entries(controls).filter(([, control]) => control).map(([key, control]) => [key, control.value]));
    State.change("errors", { ...values, outcome: chosen.length === boxes.length ? [] : chosen.length ? chosen : ["none"] });
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
      ...(error[INSIDE] === null ? [] : [["inside", JSON.stringify(error[INSIDE])]]),
      ...(error[VALUES] === null ? [] : [["values", JSON.stringify(error[VALUES])]]),
      ["details", JSON.stringify(details)],
    ];
    return `{${entries.map(([name, value]) => `"${name}":${value}`).join(",")}}`;
  };

  const show = async (place) => {
    const at = kept.findIndex((error) => isAt(error, place));
    const error = at < 0 ? all.find((each) => isAt(each, place)) : kept[at];
    if (!error) {
      Panel.show([element("span", { class: "path" }, visible(place.path))], [element("p", { class: "note" }, `There is no error at this place of document ${visible(place.document)} on this page.`)], { place: "" });
      return;
    }
    const step = (by) => at >= 0 && kept[at + by] && (() => State.show(placeOf(kept[at + by])));
    const field = Fields.pathOf(error[ROW]);
    Panel.show(
      [element("span", { class: "path" }, visible(error[PATH]))],
      [
        element("p", {}, outcomeMark(outcomeOf(error)), ` ${MEANINGS[outcomeOf(error)]}`, error[CLASS] ? ` · ${classText(error[CLASS])}` : "", " · ", visible(error[REASON] || "")),
        error[DIFFERING] ? element("p", {}, "Fields that differ: ", element("span", { class: "path" }, visible(error[DIFFERING].join(", ")))) : null,
        element("div", { class: "sides" }, ...[["gt", "Ground truth"], ["pred", "Prediction"]].map(([side, title]) => element("div", {}, element("h3", {}, title), element("div", { class: "value" }, ...marked(side, error[GT], error[PRED]))))),
        element("p", {}, "Document ", element("a", { href: State.link({ document: error[DOCUMENT] }) }, visible(error[DOCUMENT])), field ? " · field " : "", field ? element("a", { href: `#fields&open=${encodeURIComponent(field)}` }, visible(field)) : ""),
        element("p", {}, element("button", { type: "button", onclick: (event) => copy(copied(error), event.target) }, "Copy as JSON")),
      ],
      { before: step(-1), after: step(1), place: at < 0 ? "" : `${at + 1} of ${kept.length}` },
    );
  };

  const start = async () => {
    all = await load("non-matches");
    byId("errors-badge").textContent = all.length.toLocaleString("en");
    const columns = [["outcome", "Outcome", "outcome"], ["document", "Document", "document"], ["path", "Field", "field"], ["gt", "Ground truth", "gt"], ["pred", "Prediction", "pred"], ["similarity right", "Similarity", "similarity"]];
    if (controls.class) columns.push(["error-class", "Class", "class"]);
    byId("errors-list").classList.toggle("unclassed", !controls.class);
    const sort = (key) => State.change("errors", { sort: State.now.errors.sort === key ? `-${key}` : key });
    list = new List(byId("errors-list"), { label: "Errors", columns, cells, sort, fold, open: (at) => State.show(placeOf(kept[at])) });
    let waiting = 0;
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(read, 60);
    });
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      State.change("errors", LISTS.errors);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    State.follow(apply);
  };

  const ofDocument = (id) => all.filter((error) => error[DOCUMENT] === id);

  return { start, show, ofDocument };
})();
