// Texts of the filters that only links can set, because the forms of the lists have no control for them.

const BINS = 20;
const binText = (lower) => (Number(lower) >= 1 ? "1" : `${lower} to below ${Number((Number(lower) + 1 / BINS).toFixed(4))}`);

const causeIndex = (key) => facts.causes.findIndex(([causeKey]) => causeKey === key);
// Return the position of a cause in the changes of two runs; UNKNOWN if there is no such cause.
const changeIndex = (key) => {
  const position = (facts.changes ?? []).findIndex(([changeKey]) => changeKey === key);
  return position < 0 ? UNKNOWN : position;
};
// Return what went wrong by a cause in the first run (0) or in the second run (1).
const changeText = (key, run) => facts.changes?.[changeIndex(key)]?.[1 + run];

const KINDS = {
  all: "items, objects and the values inside them",
  values: "single values",
  wholes: "items and objects as a whole",
  judged: "not inside what failed as a whole",
};

const NARROWING = {
  of: (id) => `document ${visible(id)}`,
  cause: (key) => (causeIndex(key) < 0 ? `no cause is called ${visible(key)}` : `cause: ${facts.causes[causeIndex(key)][1]}`),
  before: (key) => (changeText(key, 0) ? `cause before: ${changeText(key, 0)}` : `no cause is called ${visible(key)}`),
  after: (key) => (changeText(key, 1) ? `cause after: ${changeText(key, 1)}` : `no cause is called ${visible(key)}`),
  at: (path) => (Fields.range(path) ? `field ${visible(path)} itself` : `no field is called ${visible(path)}${nearestHint(path, Fields.paths)}`),
  what: (kind) => KINDS[kind] ?? visible(kind),
  similarity: (lower) => `similarity ${binText(lower)}`,
  gt: (json) => `ground truth ${visible(json)}`,
  pred: (json) => `prediction ${visible(json)}`,
};
const WHOLE = "(document)"; // as in core/figures.py
const WHOLE_MOVES = { broken: "no longer wholly right", fixed: "newly wholly right" };
const NARROWING_DOCUMENTS = {
  group: (name, { by }) => (facts.runs ? (by === WHOLE && WHOLE_MOVES[name]) || `${visible(by)} ${visible(name)}` : `${visible(by)} ${visible(name)}, compared`),
  score: (lower) => `score ${binText(lower)}`,
};

// Return a button to remove each active one of these filters, and a button for each problem of the address.
const chips = (list, textsByKey, state, problems) => [
  ...Object.entries(textsByKey)
    .filter(([key]) => state[key])
    .map(([key, text]) => element("button", { type: "button", class: "chip", onclick: () => State.change(list, { [key]: "" }) }, `${text(state[key], state)} ✕`)),
  ...problems.map((problem) => element("button", { type: "button", class: "chip", onclick: () => State.change(list, {}) }, `${problem} ✕`)),
];
