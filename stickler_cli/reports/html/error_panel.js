// What the panel shows of one error: both values, its cost, its neighbours, and buttons for verdicts and for copying.

const MAX_SIBLINGS = 30;

// Split the JSON text of an object into a Map of its keys to the JSON texts of their values, without parsing numbers: no
// digit is lost. Return null for any other text.
const entriesOf = (json) => {
  if (typeof json !== "string" || json[0] !== "{") return null;
  const entries = new Map();
  let depth = 0;
  let quoted = false;
  let start = 1;
  let key = null;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (quoted) {
      if (character === "\\") index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (depth === 1 && character === ":" && key === null) {
      key = JSON.parse(json.slice(start, index));
      start = index + 1;
    } else if (depth === 1 && (character === "," || character === "}")) {
      if (key !== null) entries.set(key, json.slice(start, index));
      [key, start] = [null, index + 1];
      if (character === "}") depth -= 1;
    } else if (character === "}" || character === "]") depth -= 1;
  }
  return entries;
};

// Return the path of the item or object that contains the value at a path.
const parentOf = (path) => path.replace(/(?:\["(?:[^"\\]|\\.)*"\]|\[\d+\]|(?:^|\.)[^.[\]"\s]+)$/, "");

const quotedForShell = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

const commandOf = (error) => {
  const documentOption = error[DOCUMENT].startsWith("-") ? `--document=${error[DOCUMENT]}` : `--document ${quotedForShell(error[DOCUMENT])}`;
  // The command takes paths of the ground truth; an invented item has none, so its field is named instead.
  const field = error[OUTCOME] === "FA" ? error[FIELD] : error[PATH];
  return `${facts.explaining || "stickler compare SCHEMA GT PRED"} ${documentOption} --field ${quotedForShell(field)}`;
};

// Names of the columns of an error in files, from DOCUMENT on. Of the columns after PRED only REASON is always written; the
// rest only if they are not empty.
const COLUMN_NAMES = ["document", "path", "field", "outcome", "class", "ground_truth_value", "prediction_value", "similarity", "inside", "values", "reason", "differing_fields", "swapped_with", "origin"];

const asJson = (error) => {
  const raw = (value) => (value === null ? "null" : isCut(value) ? JSON.stringify(`${value[0]}…`) : value);
  const columns = COLUMN_NAMES.map((name, index) => [name, index + DOCUMENT, error[index + DOCUMENT]]).filter(([, column, value]) => column <= PRED || column === REASON || (value !== null && value.length !== 0));
  return `{${columns.map(([name, column, value]) => `"${name}":${column === GT || column === PRED ? raw(value) : JSON.stringify(value)}`).join(",")}}`;
};

// Return the fields in which two items differ: those that the run recorded, or else all whose JSON texts differ.
const differingIn = (error, sides) => {
  const [gt, pred] = sides;
  const fields = error[DIFFERING].map((path) => path.replace(/^\["|"\]$/g, ""));
  return fields.length ? fields : [...new Set([...gt.keys(), ...pred.keys()])].filter((key) => gt.get(key) !== pred.get(key));
};

const MAX_LENGTH_BESIDE = 60; // characters up to which both values are shown side by side; longer ones are shown one above the other
const MAX_LENGTH_WHOLE = 400; // characters up to which a value is shown whole without a click

// Show two values that are not objects; long ones are first cut around their first difference.
const comparedValues = (error) => {
  const texts = [error[GT], error[PRED]].map((value) => (value === null ? "" : textOf(value)));
  const length = Math.max(...texts.map((text) => text.length));
  const isPaired = error[GT] !== null && error[PRED] !== null;
  const whole = () => [markOneSide("gt", error[GT], error[PRED]), markOneSide("pred", error[GT], error[PRED])];
  const holder = element("div", { class: length > MAX_LENGTH_BESIDE ? "sides stacked" : "sides" });
  const show = (sides) => holder.replaceChildren(...["Ground truth", "Prediction"].map((title, side) => element("div", {}, element("h3", {}, title), element("div", { class: "value" }, ...sides[side]))));
  if (!isPaired || length <= MAX_LENGTH_WHOLE) {
    show(whole());
    return holder;
  }
  show(markBothSides(...cutAroundDifference(texts[0], texts[1], MAX_LENGTH_WHOLE)));
  const moreButton = element("button", { type: "button", onclick: () => {
    show(whole());
    moreButton.remove();
  } }, "Whole values");
  return element("div", {}, holder, moreButton);
};

// Show the two sides of an error: objects field by field with the differing fields first, other values as a pair.
const comparedSides = (error) => {
  const entries = [entriesOf(error[GT]), entriesOf(error[PRED])];
  const isItem = (entries[0] || error[GT] === null) && (entries[1] || error[PRED] === null);
  if (!isItem) return comparedValues(error);
  const isPaired = entries[0] && entries[1];
  for (const side of [0, 1]) entries[side] ??= new Map();
  const differing = new Set(isPaired ? differingIn(error, entries) : []);
  const keys = [...new Set([...entries[0].keys(), ...entries[1].keys()])].sort((first, second) => Number(differing.has(second)) - Number(differing.has(first)));
  const row = (key) => {
    const [gt, pred] = entries.map((sideEntries) => sideEntries.get(key) ?? null);
    const wrong = differing.has(key);
    const values = wrong ? [markOneSide("gt", gt, pred), markOneSide("pred", gt, pred)] : [[displayText(gt)], [displayText(pred)]];
    return element(
      "tr",
      { class: wrong ? "wrong-row" : "right-row" },
      element("th", { scope: "row" }, visible(key)),
      ...values.map((parts, side) => element("td", { class: "value", "data-label": side ? "found" : "truth" }, ...parts)),
    );
  };
  return tableOf(["Field", "Ground truth", "Prediction"], keys.map(row));
};

const costOf = (error) => {
  if (error[INSIDE] !== null && error[VALUES] === null) return ["Counted with ", linkTo({ ...placeOfError(error), path: error[INSIDE] }), ", which failed as a whole and contains it."];
  const cost = error[VALUES] === null ? "It cost 1 value." : error[VALUES] ? `It cost ${plural(error[VALUES], "value")}, all inside it.` : "It cost no value by itself: the errors inside it are listed separately.";
  const [key, text, errors, values, number, origins] = facts.causes[error[CAUSE]] || [];
  if (!key || errors < 2) return [cost];
  const link = element("a", { href: `#errors&cause=${key}` }, text);
  return [`${cost} One of ${plural(errors, "error")} of cause ${number}, which cost ${plural(values, "value")}: `, link, origins.length ? `; ${origins.join("; ")}.` : "."];
};

const linkTo = (place, text = place.path) => element("a", { href: State.link(place), class: "path" }, visible(text));

// Return the lists of errors inside an error, and beside it in the same item or object.
const siblingLists = (error, documentErrors) => {
  const [path, parent] = [error[PATH], parentOf(error[PATH])];
  const isInside = (other) => other[INSIDE] === path || (other[PATH].startsWith(path) && ".[".includes(other[PATH][path.length] ?? "no"));
  const otherErrors = documentErrors.filter((other) => other[PATH] !== path || other[OUTCOME] !== error[OUTCOME]);
  const inside = otherErrors.filter(isInside);
  const beside = otherErrors.filter((other) => !isInside(other) && parentOf(other[PATH]) === parent);
  return [
    siblingList("Wrong inside it", inside, error),
    siblingList(parent ? `Also wrong in ${visible(parent)}` : "Also wrong in this document", beside, error),
  ];
};

const siblingList = (title, errors, error) => {
  const id = error[DOCUMENT];
  if (!errors.length) return null;
  const items = errors.slice(0, MAX_SIBLINGS).map((other) => element("li", {}, outcomeMark(other[OUTCOME]), " ", linkTo(placeOfError(other)), " ", ...Errors.changeElements(other)));
  const moreCount = errors.length - items.length;
  if (moreCount) items.push(element("li", {}, element("a", { href: `#errors&of=${encodeURIComponent(id)}` }, `and ${moreCount} more`)));
  return element("div", { class: "siblings" }, element("h3", {}, title), element("ul", {}, ...items));
};

const copyButtons = (error) => {
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

// Return a value as text for readers: an item is shown by its values, in a panel with the names of its fields.
const readableText = (value, { named = false } = {}) => {
  const entries = entriesOf(value);
  if (!entries) return displayText(value);
  return Array.from(entries, ([name, text]) => (named ? `${visible(name)} ${displayText(text)}` : displayText(text))).join(" · ");
};

// Show the answer of a run. `true` is a right answer; `wrong` has the paths of wrong values inside an item.
const answerElement = (value, { named = false } = {}) => {
  if (value === true) return element("span", { class: "absent" }, "right");
  if (value === null) return element("span", { class: "absent" }, "absent");
  return value.wrong ? element("span", { class: "absent" }, `wrong inside: ${value.wrong.map(visible).join(", ")}`) : readableText(value, { named });
};
const isWrongAnswer = (value) => value !== true && value !== null && !value.wrong;
const SHORT_MOVES = { "wrong otherwise": "otherwise", "wrong in the same way": "same way" }; // short enough for a row of the list
const moveMark = (move) => element("span", { class: `badge ${{ broken: "bad", fixed: "good" }[move] ?? ""}`, title: move }, SHORT_MOVES[move] ?? move);
const runsTable = (errors) => {
  const compared = (gt, value) => markOneSide("pred", ...[gt, value].map((side) => (entriesOf(side) ? readableText(side, { named: true }) : side)));
  const answer = (gt, value) => (isWrongAnswer(value) && gt !== null ? compared(gt, value) : [answerElement(value, { named: true })]);
  const cell = (label, ...parts) => element("td", { class: "value", "data-label": label }, ...parts);
  const row = (error) => element("tr", {}, element("th", { scope: "row" }, linkTo(placeOfError(error))), cell("truth", answerElement(error[GT], { named: true })), ...error[DIFFERING].map((value, run) => cell(facts.runs[run], ...answer(error[GT], value))));
  return tableOf(["Field", "Truth", ...facts.runs], errors.map(row));
};
// Link to the document, and to the same value in the report of each run that has one.
const reportLinks = (place) =>
  element("p", {}, "Document ", linkTo({ document: place.document }, place.document), ...(facts.pages ?? []).flatMap((page, run) => (page ? [" · ", element("a", { href: `${page}#${Object.entries(place).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}` }, `in the report (${facts.runs[run]})`)] : [])));
// Say why the answer of each run is wrong, with a link to the other values that the run lost by the same cause.
const reasonParts = (error) =>
  error[REASON].flatMap((reason, run) => {
    if (!reason) return [];
    const cause = facts.changes?.[error[[BEFORE, AFTER][run]]];
    const link = cause && element("a", { href: `#errors&${["before", "after"][run]}=${cause[0]}` }, cause[1 + run]);
    return [element("p", {}, `${facts.runs[run]}: `, element("b", {}, visible(reason)), ...(link ? [". One of ", link, "."] : ["."]))];
  });
const runsParts = (error, documentErrors) => [
  ...reasonParts(error),
  element("p", {}, moveMark(error[OUTCOME]), ` · ${classText(error[CLASS])}`, error[VALUES] === null ? "" : ` · ${plural(error[VALUES], "value")}`),
  runsTable([error]),
  facts.changes ? null : element("p", {}, "One of ", element("a", { href: `#errors&cause=${facts.causes[error[CAUSE]][0]}` }, facts.causes[error[CAUSE]][1]), "."),
  documentErrors.length > 1 ? element("div", { class: "siblings" }, element("h3", {}, "All values of this document that differ"), runsTable(documentErrors)) : null,
  reportLinks(placeOfError(error)),
];

const errorParts = (error, documentErrors, source) => {
  if (facts.runs) return runsParts(error, documentErrors);
  const field = Fields.pathOf(error[ROW]);
  return [
    error[ORIGIN] ? element("p", {}, element("b", {}, visible(error[ORIGIN]))) : null,
    element("p", {}, outcomeMark(error[OUTCOME]), ` · ${classText(error[CLASS])} · `, visible(error[REASON]), error[SWAPPED] ? element("b", {}, `: the value of ${visible(error[SWAPPED])}`) : null),
    comparedSides(error),
    ...source.figures,
    source.link,
    Verdicts.buttons(error),
    element("p", {}, ...costOf(error)),
    ...siblingLists(error, documentErrors),
    copyButtons(error),
    element("p", {}, "Document ", linkTo({ document: error[DOCUMENT] }, error[DOCUMENT]), field ? " · field " : "", field ? element("a", { href: `#fields&open=${encodeURIComponent(field)}`, class: "path" }, visible(field)) : ""),
  ];
};
