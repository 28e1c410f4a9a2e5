// What the list of errors is narrowed to by links, beyond what its form can say: a text and a test each.

const BINS = 20;
const binOf = (value) => (value >= 1 ? BINS : Math.min(Math.floor(value * BINS + 1e-9), BINS - 1));
const binText = (lower) => (Number(lower) >= 1 ? "1" : `${lower} to below ${Number((Number(lower) + 1 / BINS).toFixed(4))}`);

const KINDS = {
  values: ["single values", (error) => error[VALUES] === null],
  wholes: ["items and objects as a whole", (error) => error[VALUES] !== null],
  judged: ["not inside of what failed as a whole", (error) => error[INSIDE] === null],
};

const NARROWING = {
  of: (id) => ({ text: `document ${visible(id)}`, test: (error) => error[DOCUMENT] === id }),
  cause: (key) => {
    const at = causeAt(key);
    return { text: `cause: ${facts.causes[at]?.[1] ?? visible(key)}`, test: (error) => error[CAUSE] === at && at >= 0 };
  },
  at: (path) => ({ text: `field ${visible(path)} itself`, test: (error) => Fields.pathOf(error[ROW]) === path }),
  what: (kind) => ({ text: KINDS[kind]?.[0] ?? visible(kind), test: KINDS[kind]?.[1] ?? (() => false) }),
  similarity: (lower) => ({ text: `similarity ${binText(lower)}`, test: (error) => error[SIMILARITY] !== null && binOf(error[SIMILARITY]) === binOf(Number(lower)) }),
  gt: (json) => ({ text: `ground truth ${visible(json)}`, test: (error) => (textOf(error[GT]) ?? "absent") === json }),
  pred: (json) => ({ text: `prediction ${visible(json)}`, test: (error) => (textOf(error[PRED]) ?? "absent") === json }),
};

const narrowed = (state) =>
  Object.entries(NARROWING)
    .filter(([key]) => state[key])
    .map(([key, make]) => ({ key, ...make(state[key]) }));

// What a document is made of; payload.py writes them. BY: its group by each key. LOST: row and count, row and count...
const [ID, STATUS, SCORE, TP, FD, FA, FN, BY, LOST] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

// The same for the list of documents.
const NARROWING_DOCUMENTS = {
  group: (name, { by }) => ({ text: `${visible(by)} ${visible(name)}, compared`, test: (row) => row[BY][by] === name && row[SCORE] !== null }),
  score: (lower) => ({ text: `score ${binText(lower)}`, test: ([, , score]) => score !== null && binOf(score) === binOf(Number(lower)) }),
};

const narrowedDocuments = (state) =>
  Object.entries(NARROWING_DOCUMENTS)
    .filter(([key]) => state[key])
    .map(([key, make]) => ({ key, ...make(state[key], state) }));
