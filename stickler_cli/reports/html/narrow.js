// What lists are narrowed to by links, beyond what their forms can say: a text for each.

const BINS = 20;
const binText = (lower) => (Number(lower) >= 1 ? "1" : `${lower} to below ${Number((Number(lower) + 1 / BINS).toFixed(4))}`);

const causeAt = (key) => facts.causes.findIndex(([each]) => each === key);
// The position of a cause of two runs; UNKNOWN where there is none.
const changeAt = (key) => {
  const place = (facts.changes ?? []).findIndex(([each]) => each === key);
  return place < 0 ? UNKNOWN : place;
};
const changeText = (key) => facts.changes?.[changeAt(key)]?.[1];

const KINDS = {
  all: "items, objects and the values inside them",
  values: "single values",
  wholes: "items and objects as a whole",
  judged: "not inside of what failed as a whole",
};

const NARROWING = {
  of: (id) => `document ${visible(id)}`,
  cause: (key) => (causeAt(key) < 0 ? `no cause is called ${visible(key)}` : `cause: ${facts.causes[causeAt(key)][1]}`),
  before: (key) => (changeText(key) ? `cause before: ${changeText(key)}` : `no cause is called ${visible(key)}`),
  after: (key) => (changeText(key) ? `cause after: ${changeText(key)}` : `no cause is called ${visible(key)}`),
  at: (path) => (Fields.range(path) ? `field ${visible(path)} itself` : `no field is called ${visible(path)}${nearest(path, Fields.paths)}`),
  what: (kind) => KINDS[kind] ?? visible(kind),
  similarity: (lower) => `similarity ${binText(lower)}`,
  gt: (json) => `ground truth ${visible(json)}`,
  pred: (json) => `prediction ${visible(json)}`,
};
const NARROWING_DOCUMENTS = {
  group: (name, { by }) => (facts.runs ? `${visible(by)} ${visible(name)}` : `${visible(by)} ${visible(name)}, compared`),
  score: (lower) => `score ${binText(lower)}`,
};

// Buttons that take away what a list is narrowed to.
const chips = (list, texts, state, problems) => [
  ...Object.entries(texts)
    .filter(([key]) => state[key])
    .map(([key, text]) => element("button", { type: "button", class: "chip", onclick: () => State.change(list, { [key]: "" }) }, `${text(state[key], state)} ✕`)),
  ...problems.map((problem) => element("button", { type: "button", class: "chip", onclick: () => State.change(list, {}) }, `${problem} ✕`)),
];
