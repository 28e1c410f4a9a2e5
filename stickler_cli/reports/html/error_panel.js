// What the panel shows of one error: both values, what is beside them, what it cost, and what to do about it.

const MOST_SIBLINGS = 30;

// Split a JSON object as text into its keys and their values as text, so that no digit is lost.
const entriesOf = (json) => {
  if (typeof json !== "string" || json[0] !== "{") return null;
  const found = new Map();
  let depth = 0;
  let quoted = false;
  let start = 1;
  let key = null;
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at];
    if (quoted) {
      if (letter === "\\") at += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === "{" || letter === "[") depth += 1;
    else if (depth === 1 && letter === ":" && key === null) {
      key = JSON.parse(json.slice(start, at));
      start = at + 1;
    } else if (depth === 1 && (letter === "," || letter === "}")) {
      if (key !== null) found.set(key, json.slice(start, at));
      [key, start] = [null, at + 1];
      if (letter === "}") depth -= 1;
    } else if (letter === "}" || letter === "]") depth -= 1;
  }
  return found;
};

// The path of the item or object that a place is in.
const parentOf = (path) => path.replace(/(?:\["(?:[^"\\]|\\.)*"\]|\[\d+\]|(?:^|\.)[^.[\]"\s]+)$/, "");

const quotedForShell = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

const commandOf = (error) => {
  const which = error[DOCUMENT].startsWith("-") ? `--document=${error[DOCUMENT]}` : `--document ${quotedForShell(error[DOCUMENT])}`;
  // An invented item has no place in the ground truth, by which the command names places.
  const field = error[OUTCOME] === "FA" ? error[FIELD] : error[PATH];
  return `${facts.explaining || "stickler compare SCHEMA GT PRED"} ${which} --field ${quotedForShell(field)}`;
};

// What files call the columns of an error, from DOCUMENT on; those after PRED are left out where they say nothing.
const NAMES = ["document", "path", "field", "outcome", "class", "ground_truth_value", "prediction_value", "similarity", "inside", "values", "reason", "differing_fields", "swapped_with", "origin"];

const asJson = (error) => {
  const raw = (value) => (value === null ? "null" : isCut(value) ? JSON.stringify(`${value[0]}…`) : value);
  const columns = NAMES.map((name, at) => [name, at + DOCUMENT, error[at + DOCUMENT]]).filter(([, at, value]) => at <= PRED || at === REASON || (value !== null && value.length !== 0));
  return `{${columns.map(([name, at, value]) => `"${name}":${at === GT || at === PRED ? raw(value) : JSON.stringify(value)}`).join(",")}}`;
};

// The fields in which two items differ: those that were judged so, or all that are not the same text.
const differingIn = (error, sides) => {
  const [gt, pred] = sides;
  const named = error[DIFFERING].map((path) => path.replace(/^\["|"\]$/g, ""));
  return named.length ? named : [...new Set([...gt.keys(), ...pred.keys()])].filter((key) => gt.get(key) !== pred.get(key));
};

const MAX_BESIDE = 60; // characters of a value that stands beside the other one; of longer ones the truth stands above
const MAX_WHOLE = 400; // characters of a value that is shown without being asked for

// Two values that are no objects; of long ones first what is around their first difference.
const valuesOf = (error) => {
  const texts = [error[GT], error[PRED]].map((value) => (value === null ? "" : textOf(value)));
  const length = Math.max(...texts.map((text) => text.length));
  const isPaired = error[GT] !== null && error[PRED] !== null;
  const whole = () => [marked("gt", error[GT], error[PRED]), marked("pred", error[GT], error[PRED])];
  const holder = element("div", { class: length > MAX_BESIDE ? "sides stacked" : "sides" });
  const show = (sides) => holder.replaceChildren(...["Ground truth", "Prediction"].map((title, side) => element("div", {}, element("h3", {}, title), element("div", { class: "value" }, ...sides[side]))));
  if (!isPaired || length <= MAX_WHOLE) {
    show(whole());
    return holder;
  }
  show(markedPair(...cutAround(texts[0], texts[1], MAX_WHOLE)));
  const more = element("button", { type: "button", onclick: () => {
    show(whole());
    more.remove();
  } }, "Whole values");
  return element("div", {}, holder, more);
};

// Two objects field by field, those that differ first; two other values beside each other.
const sidesOf = (error) => {
  const both = [entriesOf(error[GT]), entriesOf(error[PRED])];
  const isItem = (both[0] || error[GT] === null) && (both[1] || error[PRED] === null);
  if (!isItem) return valuesOf(error);
  const isPaired = both[0] && both[1];
  for (const side of [0, 1]) both[side] ??= new Map();
  const differing = new Set(isPaired ? differingIn(error, both) : []);
  const keys = [...new Set([...both[0].keys(), ...both[1].keys()])].sort((first, second) => Number(differing.has(second)) - Number(differing.has(first)));
  const row = (key) => {
    const [gt, pred] = both.map((entries) => entries.get(key) ?? null);
    const wrong = differing.has(key);
    const values = wrong ? [marked("gt", gt, pred), marked("pred", gt, pred)] : [[shown(gt)], [shown(pred)]];
    return element(
      "tr",
      { class: wrong ? "wrong-row" : "right-row" },
      element("th", { scope: "row" }, visible(key)),
      ...values.map((inside, at) => element("td", { class: "value", "data-label": at ? "found" : "truth" }, ...inside)),
    );
  };
  return tableOf(["Field", "Ground truth", "Prediction"], keys.map(row));
};

const costOf = (error) => {
  if (error[INSIDE] !== null && error[VALUES] === null) return ["Counted with ", linkTo({ ...placeOf(error), path: error[INSIDE] }), ", which failed as a whole and has it inside."];
  const cost = error[VALUES] === null ? "It cost 1 value." : error[VALUES] ? `It cost ${plural(error[VALUES], "value")}, all inside of it.` : "It cost no value by itself: what is wrong inside of it is listed by itself.";
  const [key, text, errors, values, number, origins] = facts.causes[error[CAUSE]] || [];
  if (!key || errors < 2) return [cost];
  const link = element("a", { href: `#errors&cause=${key}` }, text);
  return [`${cost} One of ${plural(errors, "error")} of cause ${number}, which cost ${plural(values, "value")}: `, link, origins.length ? `; ${origins.join("; ")}.` : "."];
};

const linkTo = (place, text = place.path) => element("a", { href: State.link(place), class: "path" }, visible(text));

// What is wrong inside of an error, and beside it in the item or object that it is in.
const siblingsOf = (error, others) => {
  const [path, around] = [error[PATH], parentOf(error[PATH])];
  const isInside = (each) => each[INSIDE] === path || (each[PATH].startsWith(path) && ".[".includes(each[PATH][path.length] ?? "no"));
  const rest = others.filter((each) => each[PATH] !== path || each[OUTCOME] !== error[OUTCOME]);
  const inside = rest.filter(isInside);
  const beside = rest.filter((each) => !isInside(each) && parentOf(each[PATH]) === around);
  return [
    listOf("Wrong inside of it", inside, error),
    listOf(around ? `Also wrong in ${visible(around)}` : "Also wrong in this document", beside, error),
  ];
};

const listOf = (title, errors, error) => {
  const id = error[DOCUMENT];
  if (!errors.length) return null;
  const items = errors.slice(0, MOST_SIBLINGS).map((each) => element("li", {}, outcomeMark(each[OUTCOME]), " ", linkTo(placeOf(each)), " ", ...Errors.change(each)));
  const more = errors.length - items.length;
  if (more) items.push(element("li", {}, element("a", { href: `#errors&of=${encodeURIComponent(id)}` }, `and ${more} more`)));
  return element("div", { class: "siblings" }, element("h3", {}, title), element("ul", {}, ...items));
};

const copies = (error) => {
  const button = (title, text) => element("button", { type: "button", onclick: (event) => copy(text, event.target) }, title);
  const values = [["ground truth", GT], ["prediction", PRED]].filter(([, side]) => error[side] !== null);
  return element(
    "div",
    { class: "copies", role: "group", "aria-label": "Copy" },
    button("Copy path", error[PATH]),
    ...values.map(([title, side]) => button(`Copy ${title}`, textOf(error[side]))),
    button("Copy command", commandOf(error)),
    button("Copy as JSON", asJson(error)),
  );
};

// What runs said of a value, each beside the truth. An item that has wrong values inside of it is not right.
const saidBy = (value) => {
  if (value === true) return element("span", { class: "absent" }, "right");
  if (value === null) return element("span", { class: "absent" }, "absent");
  return value.wrong ? element("span", { class: "absent" }, `wrong inside: ${value.wrong.map(visible).join(", ")}`) : shown(value);
};
const isAnswer = (value) => value !== true && value !== null && !value.wrong;
const SHORT_MOVES = { "wrong otherwise": "otherwise", "wrong in the same way": "same way" }; // as a row has room for them
const moveMark = (move) => element("span", { class: `badge ${{ broken: "bad", fixed: "good" }[move] ?? ""}`, title: move }, SHORT_MOVES[move] ?? move);
const runsTable = (errors) => {
  const row = (error) => element("tr", {}, element("th", { scope: "row" }, linkTo(placeOf(error))), element("td", { class: "value", "data-label": "truth" }, saidBy(error[GT])), ...error[DIFFERING].map((value, at) => element("td", { class: "value", "data-label": facts.runs[at] }, ...(isAnswer(value) && error[GT] !== null ? marked("pred", error[GT], value) : [saidBy(value)]))));
  return tableOf(["Field", "Truth", ...facts.runs], errors.map(row));
};
// The same place in the reports of the runs, where they stand beside them.
const inReports = (place) =>
  element("p", {}, "Document ", linkTo({ document: place.document }, place.document), ...(facts.pages ?? []).flatMap((page, at) => (page ? [" · ", element("a", { href: `${page}#${Object.entries(place).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}` }, `in the report (${facts.runs[at]})`)] : [])));
// Why each run has it wrong, and the cause of that, which leads to the values that the run lost by it.
const reasonsOf = (error) =>
  error[REASON].flatMap((reason, run) => {
    if (!reason) return [];
    const cause = facts.changes?.[error[[BEFORE, AFTER][run]]];
    const link = cause && element("a", { href: `#errors&${["before", "after"][run]}=${cause[0]}` }, cause[1]);
    return [element("p", {}, `${facts.runs[run]}: `, element("b", {}, visible(reason)), ...(link ? [". One of ", link, "."] : ["."]))];
  });
const runsParts = (error, others) => [
  ...reasonsOf(error),
  element("p", {}, moveMark(error[OUTCOME]), ` · ${classText(error[CLASS])}`, error[VALUES] === null ? "" : ` · ${plural(error[VALUES], "value")}`),
  runsTable([error]),
  facts.changes ? null : element("p", {}, "One of ", element("a", { href: `#errors&cause=${facts.causes[error[CAUSE]][0]}` }, facts.causes[error[CAUSE]][1]), "."),
  others.length > 1 ? element("div", { class: "siblings" }, element("h3", {}, "All values of this document that differ"), runsTable(others)) : null,
  inReports(placeOf(error)),
];

const errorParts = (error, others, source) => {
  if (facts.runs) return runsParts(error, others);
  const field = Fields.pathOf(error[ROW]);
  return [
    error[ORIGIN] ? element("p", {}, element("b", {}, visible(error[ORIGIN]))) : null,
    element("p", {}, outcomeMark(error[OUTCOME]), ` · ${classText(error[CLASS])} · `, visible(error[REASON]), error[SWAPPED] ? element("b", {}, `: the value of ${visible(error[SWAPPED])}`) : null),
    sidesOf(error),
    ...source.figures,
    source.link,
    Verdicts.buttons(error),
    element("p", {}, ...costOf(error)),
    ...siblingsOf(error, others),
    copies(error),
    element("p", {}, "Document ", linkTo({ document: error[DOCUMENT] }, error[DOCUMENT]), field ? " · field " : "", field ? element("a", { href: `#fields&open=${encodeURIComponent(field)}`, class: "path" }, visible(field)) : ""),
  ];
};
