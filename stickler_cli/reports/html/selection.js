// Errors and documents: what they are made of, and what a state of the page asks for; who answers finds them.

// What an error is made of; payload.py writes them. WITHIN: its cause, or that of the item that it is counted with. BEFORE,
// AFTER: of two runs, the position of its cause in either one among `changes`, -1 where it is right.
const [ROW, DOCUMENT, PATH, FIELD, OUTCOME, CLASS, GT, PRED, SIMILARITY, INSIDE, VALUES, REASON, DIFFERING, SWAPPED, ORIGIN, CAUSE, WITHIN, BEFORE, AFTER] = Array(19).keys();
// What a document is made of. BY: its group by each key. LOST: row and count, row and count... COUNTS: values lost in
// each of several runs, of which errors have what each said among DIFFERING, true where it is right.
const [ID, STATUS, SCORE, TP, FD, FA, FN, BY, LOST, COUNTS] = Array(10).keys();

// What is known of all errors, kept or not: `total`; `totals`: row of a field, class and number; `causes`: key,
// text, errors, values, number and in which items other fields are held; `lost`: how many documents lost values; `runs`: names of
// several; `changes`: key and text of the causes of two runs beside each other.
/** @type {any} */
// biome-ignore lint/style/useConst: errors.js sets it once the page is unpacked
let facts = null;

const classText = (name) => (name || "").replaceAll("_", " ");
const errorsOf = (row) => row[FD] + row[FA] + row[FN];

// The address of an error: its document and path, and its side where the path is that of the prediction.
const placeOf = (error) => ({ document: error[DOCUMENT], path: error[PATH], ...(error[OUTCOME] === "FA" ? { as: "fa" } : {}) });

const groupOf = ({ group }) => (group === "none" ? "" : group || "cause");

// Whether an item that failed as a whole stands for all that is wrong inside of it: unless one asks for a class, a field
// without others in it, or the values.
const isFolded = ({ what, field, class: name }) => {
  const range = Fields.range(field);
  return !what && !name && !(range && range[1] - range[0] === 1);
};

// Return how many errors of the run a state lets through, also of those that are not on the page; null where
// nobody counted them.
const truth = (state) => {
  const { field, class: className, cause, what } = state;
  const isNarrowed = ["find", "gt", "pred", "of", "at", "similarity", "before", "after"].some((key) => state[key]) || state.outcome.length;
  const range = Fields.range(field);
  if (cause && causeAt(cause) < 0) return 0;
  if (isNarrowed || (field && !range) || (cause && (field || !isFolded(state))) || (what && what !== "all")) return null;
  if (cause) return facts.causes[causeAt(cause)][2];
  if (isFolded(state)) return range ? null : facts.causes.reduce((sum, [, , errors]) => sum + errors, 0);
  return facts.totals.reduce((sum, [row, name, count]) => sum + ((!range || (row >= range[0] && row < range[1])) && (!className || name === className) ? count : 0), 0);
};

// How a group is called, what filter leaves nothing but it, and of a cause its number and values.
const GROUPS = {
  document: (key) => [visible(key), { of: key }],
  field: (key) => [visible(key), { field: key }],
  class: (key) => [classText(key) || "no class", { class: key }],
  pair: (key, gt, pred) => [`${shown(gt || null)} → ${shown(pred || null)}`, null],
  cause: (at) => {
    if (at < 0) return ["inside of what failed as a whole", null];
    const [key, text, , values, number, , move] = facts.causes[at];
    return facts.runs ? [`${move}, ${text}`, { cause: key }] : [text, { cause: key }, number, values];
  },
};

const counted = (kept, all, noun = "error") => (all === null || kept === all ? plural(kept, noun) : `${kept.toLocaleString("en")} of ${plural(all, noun)}`);

const PAGE = 100; // rows that are asked for at once
const AT_ONCE = 1000; // rows that a question may ask for

// The numbers of the bar of a histogram that begins here.
const boundsOf = (lower) => {
  if (!lower || !(Number(lower) < 1)) return lower ? { from: 1 } : {};
  const [from, end] = [Number(lower) - 1e-9 / BINS, Number(lower) + (1 - 1e-9) / BINS];
  return { from, below: end > 1 - 1 / BINS / 2 ? 1 : end };
};

const UNKNOWN = -2; // a row or cause that no error has
const CAN_BE_EMPTY = ["gt", "pred"]; // an absent value is the empty text

const withoutBlanks = (query) => Object.fromEntries(Object.entries(query).filter(([key, value]) => value !== null && value !== undefined && (value !== "" || CAN_BE_EMPTY.includes(key))));

// What a state asks for: keys of `QUERIES`, which engine.js or runs/page_index.py answers. A cause that is not on this
// page finds nothing. Of a cause, a class or a kind of error chooses among the values in its items, too.
const queryOf = (state) => {
  const range = Fields.range(state.field);
  return withoutBlanks({
    find: state.find.trim().toLowerCase(),
    ...(range ? { first: range[0], end: range[1] } : { field: state.field && `\n${state.field}\n` }),
    class: state.class,
    outcome: state.outcome.length ? state.outcome : null,
    ...(state.cause ? { [isFolded(state) ? "cause" : "within"]: causeAt(state.cause) < 0 ? UNKNOWN : causeAt(state.cause) } : {}),
    caused: isFolded(state) && !state.cause ? 1 : null,
    gt: state.gt === "absent" ? "" : state.gt || null,
    pred: state.pred === "absent" ? "" : state.pred || null,
    before: state.before ? changeAt(state.before) : null,
    after: state.after ? changeAt(state.after) : null,
    of: state.of,
    at: state.at ? (Fields.range(state.at)?.[0] ?? UNKNOWN) : null,
    values: { values: 1, wholes: 0 }[state.what],
    judged: state.what === "judged" ? 1 : null,
    ...boundsOf(state.similarity),
    sort: state.sort,
    group: groupOf(state),
  });
};

// How many values a list shows; where an item stands for several of them, in how many rows.
const valuesInRows = (values, rows) => (values === rows ? plural(values, "value") : `${plural(values, "value")} in ${plural(rows, "row")}`);

// What is found by a query, page by page; `kind` is in the names of its questions. `values` are lost with its rows.
class Pages {
  constructor(kind, query, { count, values, groups }, drawn) {
    this.kind = kind;
    this.query = query;
    this.count = count;
    this.values = values;
    this.groups = groups;
    this.drawn = drawn;
    this.pages = new Map();
  }

  static async of(kind, query, drawn) {
    const found = new Pages(kind, query, await ask(`select${kind}`, query), drawn);
    if (found.count) await found.page(0).rows; // so that a list is drawn once
    return found;
  }

  page(number) {
    if (!this.pages.has(number)) {
      const entry = { rows: ask(`page${this.kind}`, this.query, number * PAGE, PAGE) };
      this.pages.set(number, entry);
      entry.rows.then((read) => {
        entry.read = read;
        this.drawn();
      }).catch(fail);
    }
    return this.pages.get(number);
  }

  at(index) {
    return this.page(Math.floor(index / PAGE)).read?.[index % PAGE];
  }

  async get(index) {
    return (await this.page(Math.floor(index / PAGE)).rows)[index % PAGE];
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

// What a query finds, as far as there is room, and how much it finds.
const firstOf = async (kind, query, most) => {
  const { count } = await ask(`select${kind}`, query);
  const parts = [];
  for (let first = 0; first < Math.min(count, most); first += AT_ONCE) parts.push(ask(`page${kind}`, query, first, Math.min(AT_ONCE, most - first)));
  return [(await Promise.all(parts)).flat(), count];
};
