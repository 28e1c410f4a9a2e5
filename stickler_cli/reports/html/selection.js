// The columns of errors and documents, and the queries by which a state of the page selects them.

// Columns of an error, as payload.py writes them. WITHIN is the cause of the error, or the cause of the item that it is
// counted with. On a page of two runs, BEFORE and AFTER are the positions in `changes` of its cause in either run, or -1
// if that run is right.
const [ROW, DOCUMENT, PATH, FIELD, OUTCOME, CLASS, GT, PRED, SIMILARITY, INSIDE, VALUES, REASON, DIFFERING, SWAPPED, ORIGIN, CAUSE, WITHIN, BEFORE, AFTER] = Array(19).keys();
// Columns of a document. BY is its group under each key. LOST alternates rows of the table of fields and numbers of lost
// values. COUNTS has the values lost in each run, on a page of several runs; DIFFERING of an error then has the answer
// of each run, or true if the answer is right.
const [ID, STATUS, SCORE, TP, FD, FA, FN, BY, LOST, COUNTS] = Array(10).keys();

// Facts about all errors of the run, including those that the page leaves out. `total` counts them. `totals` has [row of a
// field, class, count]. `causes` has [key, text, errors, values, number, origins]. `lost` counts the documents that lost
// values. On a page of several runs, `runs` has their names, and `changes` has [key, text of
// the first run, text of the second run] of the causes of two runs.
/** @type {any} */
// biome-ignore lint/style/useConst: errors.js sets it once the page is unpacked
let facts = null;

const classText = (name) => (name || "").replaceAll("_", " ");
const errorsOf = (row) => row[FD] + row[FA] + row[FN];

// Return what the address says of an error: its document and path, and `as` if the path is one of the prediction.
const placeOfError = (error) => ({ document: error[DOCUMENT], path: error[PATH], ...(error[OUTCOME] === "FA" ? { as: "fa" } : {}) });

const groupOf = ({ group }) => (group === "none" ? "" : group || "cause");

// Return whether an item that failed as a whole is one row, without rows for the errors inside it. It is, unless the
// reader selects a kind of row, a class, or a field that has no fields inside it.
const isFolded = ({ what, field, class: name }) => {
  const range = Fields.range(field);
  return !what && !name && !(range && range[1] - range[0] === 1);
};

// Return how many errors of the run a state selects, including those that the page leaves out; null if the facts do
// not contain this number.
const countInRun = (state) => {
  const { field, class: className, cause, what } = state;
  const isNarrowed = ["find", "gt", "pred", "of", "at", "similarity", "before", "after"].some((key) => state[key]) || state.outcome.length;
  const range = Fields.range(field);
  if (cause && causeIndex(cause) < 0) return 0;
  if (isNarrowed || (field && !range) || (cause && (field || !isFolded(state))) || (what && what !== "all")) return null;
  if (cause) return facts.causes[causeIndex(cause)][2];
  if (isFolded(state)) return range ? null : facts.causes.reduce((sum, [, , errors]) => sum + errors, 0);
  return facts.totals.reduce((sum, [row, name, count]) => sum + ((!range || (row >= range[0] && row < range[1])) && (!className || name === className) ? count : 0), 0);
};

// Describe a group: [its title, the filter that selects just this group or null, number of the cause].
const GROUPS = {
  document: (key) => [visible(key), { of: key }],
  field: (key) => [visible(key), { field: key }],
  class: (key) => [classText(key) || "no class", { class: key }],
  pair: (key, gt, pred) => [`${displayText(gt || null)} → ${displayText(pred || null)}`, null],
  cause: (position) => {
    if (position < 0) return ["inside what failed as a whole", null];
    const [key, text, , , number, , move] = facts.causes[position];
    return facts.runs ? [`${move}, ${text}`, { cause: key }] : [text, { cause: key }, number];
  },
};

const countText = (count, total, noun = "error") => (total === null || count === total ? plural(count, noun) : `${count.toLocaleString("en")} of ${plural(total, noun)}`);

const PAGE_SIZE = 100; // rows of one page of a list
const MAX_ROWS_PER_QUESTION = 1000; // rows that one question may ask for

// Return the bounds of the histogram bar that begins at `lower`.
const boundsOf = (lower) => {
  if (!lower || !(Number(lower) < 1)) return lower ? { from: 1 } : {};
  const [from, end] = [Number(lower) - 1e-9 / BINS, Number(lower) + (1 - 1e-9) / BINS];
  return { from, below: end > 1 - 1 / BINS / 2 ? 1 : end };
};

const UNKNOWN = -2; // row of a field, or position of a cause, that no error has
const CAN_BE_EMPTY = ["gt", "pred"]; // keys where the empty text means an absent value

const withoutBlanks = (query) => Object.fromEntries(Object.entries(query).filter(([key, value]) => value !== null && value !== undefined && (value !== "" || CAN_BE_EMPTY.includes(key))));

// Return the query of a state, by the keys of `QUERIES` that engine.js and runs/page_index.py understand. An unknown cause
// selects nothing. With a cause, a class or a kind of row also selects among the values inside the items of that cause.
const queryOf = (state) => {
  const range = Fields.range(state.field);
  return withoutBlanks({
    find: state.find.trim().toLowerCase(),
    ...(range ? { first: range[0], end: range[1] } : { field: state.field && `\n${state.field}\n` }),
    class: state.class,
    outcome: state.outcome.length ? state.outcome : null,
    ...(state.cause ? { [isFolded(state) ? "cause" : "within"]: causeIndex(state.cause) < 0 ? UNKNOWN : causeIndex(state.cause) } : {}),
    caused: isFolded(state) && !state.cause ? 1 : null,
    gt: state.gt === "absent" ? "" : state.gt || null,
    pred: state.pred === "absent" ? "" : state.pred || null,
    before: state.before ? changeIndex(state.before) : null,
    after: state.after ? changeIndex(state.after) : null,
    of: state.of,
    at: state.at ? (Fields.range(state.at)?.[0] ?? UNKNOWN) : null,
    values: { values: 1, wholes: 0 }[state.what],
    judged: state.what === "judged" ? 1 : null,
    ...boundsOf(state.similarity),
    sort: state.sort,
    group: groupOf(state),
  });
};

// Return how many values a list shows, and in how many rows if an item counts several values.
const valuesInRows = (values, rows) => (values === rows ? plural(values, "value") : `${plural(values, "value")} in ${plural(rows, "row")}`);

// The rows that a query selects, loaded page by page. `kind` is a part of the names of its questions. `onRead` is called
// when a page has arrived. `values` counts the values that all its rows lost.
class Pages {
  constructor(kind, query, { count, values, groups }, onRead) {
    this.kind = kind;
    this.query = query;
    this.count = count;
    this.values = values;
    this.groups = groups;
    this.onRead = onRead;
    this.pages = new Map();
  }

  static async of(kind, query, onRead) {
    const pages = new Pages(kind, query, await ask(`select${kind}`, query), onRead);
    if (pages.count) await pages.page(0).rows; // so that the list is drawn only once
    return pages;
  }

  page(number) {
    if (!this.pages.has(number)) {
      const entry = { rows: ask(`page${this.kind}`, this.query, number * PAGE_SIZE, PAGE_SIZE) };
      this.pages.set(number, entry);
      entry.rows.then((rows) => {
        entry.read = rows;
        this.onRead();
      }).catch(fail);
    }
    return this.pages.get(number);
  }

  // Return a row, or undefined while its page is being loaded; `get` waits for the page.
  at(index) {
    return this.page(Math.floor(index / PAGE_SIZE)).read?.[index % PAGE_SIZE];
  }

  async get(index) {
    return (await this.page(Math.floor(index / PAGE_SIZE)).rows)[index % PAGE_SIZE];
  }

  async find(place) {
    return ask(`place${this.kind}`, this.query, place);
  }
}

const documentsQuery = (state) =>
  withoutBlanks({
    find: state.find.trim().toLowerCase(),
    wrong: state.wrong ? 1 : null,
    ...boundsOf(state.score),
    group: state.group && JSON.stringify([state.by, state.group]),
    sort: state.sort,
  });

// Return [the first `maxRows` rows that a query selects, the number of all rows that it selects].
const firstRows = async (kind, query, maxRows) => {
  const { count } = await ask(`select${kind}`, query);
  const pages = [];
  for (let first = 0; first < Math.min(count, maxRows); first += MAX_ROWS_PER_QUESTION) pages.push(ask(`page${kind}`, query, first, Math.min(MAX_ROWS_PER_QUESTION, maxRows - first)));
  return [(await Promise.all(pages)).flat(), count];
};
