// Errors: what they are made of, and which of them a state of the page lets through, in what order and groups.

// What an error is made of; payload.py writes them.
const [ROW, DOCUMENT, PATH, FIELD, OUTCOME, CLASS, GT, PRED, SIMILARITY, INSIDE, VALUES, REASON, DIFFERING, CAUSE] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

// What is known of all errors, kept or not: `total`; `totals`: row of a field, class and number; `causes`: key,
// text, errors and values.
let facts = null;

const classText = (name) => (name || "").replaceAll("_", " ");
const pairOf = (error) => `${shown(error[GT])} → ${shown(error[PRED])}`;

// The address of an error: its document and path, and its side where the path is that of the prediction.
const placeOf = (error) => ({ document: error[DOCUMENT], path: error[PATH], ...(error[OUTCOME] === "FA" ? { as: "fa" } : {}) });
const isAt = (error, { document, path, as }) => error[PATH] === path && error[DOCUMENT] === document && (!as || error[OUTCOME].toLowerCase() === as);

const causeAt = (key) => facts.causes.findIndex(([each]) => each === key);

const filterOf = (state) => {
  const { find, field, class: name, outcome } = state;
  const tests = narrowed(state).map(({ test }) => test);
  const text = find.trim().toLowerCase();
  const range = Fields.range(field);
  if (range) tests.push((error) => error[ROW] >= range[0] && error[ROW] < range[1]);
  else if (field) tests.push((error) => error[PATH] === field || error[FIELD] === field);
  if (name) tests.push((error) => error[CLASS] === name);
  if (outcome.length) tests.push((error) => outcome.includes(error[OUTCOME].toLowerCase()));
  if (text) tests.push((error) => [error[DOCUMENT], error[PATH], textOf(error[GT]) ?? "", textOf(error[PRED]) ?? ""].some((part) => part.toLowerCase().includes(text)));
  return (error) => tests.every((test) => test(error));
};

// Return how many errors of the run a state lets through, also of those that are not on the page; null where
// nobody counted them.
const truth = (state) => {
  const { field, class: name, cause } = state;
  const others = ["find", "gt", "pred", "of", "at", "what", "similarity"].some((key) => state[key]) || state.outcome.length;
  const range = Fields.range(field);
  if (others || (field && !range) || (cause && (field || name))) return null;
  if (cause) return facts.causes[causeAt(cause)]?.[2] ?? 0;
  return facts.totals.reduce((sum, [row, each, count]) => sum + ((!range || (row >= range[0] && row < range[1])) && (!name || each === name) ? count : 0), 0);
};

// What errors are sorted and grouped by; runs/page_index.py has the same.
const KEYS = {
  document: (error) => error[DOCUMENT],
  field: (error) => error[FIELD],
  class: (error) => error[CLASS] || "",
  pair: (error) => `${textOf(error[GT]) ?? ""} ${textOf(error[PRED]) ?? ""}`,
  outcome: (error) => error[OUTCOME],
  similarity: (error) => error[SIMILARITY] ?? -1,
  gt: (error) => textOf(error[GT]) ?? "",
  pred: (error) => textOf(error[PRED]) ?? "",
  cause: (error) => error[CAUSE],
};

const sorted = (errors, order) => {
  const key = order.replace(/^-/, "");
  if (!KEYS[key]) return errors;
  const sign = order.startsWith("-") ? -1 : 1;
  const keyed = errors.map((error) => [KEYS[key](error), error]);
  keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
  return keyed.map(([, error]) => error);
};

// How a group is called, and what filter leaves nothing but it.
const GROUPS = {
  document: (key) => [visible(key), { of: key }],
  field: (key) => [visible(key), { field: key }],
  class: (key) => [classText(key) || "no class", { class: key }],
  pair: (key, error) => [pairOf(error), null],
  cause: (key) => (key < 0 ? ["inside of what failed as a whole", null] : [facts.causes[key][1], { cause: facts.causes[key][0] }]),
};

// Put errors that have a key in common one after the other: causes by what they cost, others by their number.
const grouped = (errors, name) => {
  if (!GROUPS[name]) return [errors, null];
  const found = new Map();
  for (const error of errors) {
    const key = KEYS[name](error);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(error);
  }
  const rank = name === "cause" ? (key) => (key < 0 ? Infinity : key) : (key, own) => -own.length;
  const ranked = [...found].sort(([a, its], [b, others]) => rank(a, its) - rank(b, others) || (a < b ? -1 : 1));
  let first = 0;
  const groups = ranked.map(([key, own]) => {
    first += own.length;
    const [title, filter] = GROUPS[name](key, own[0]);
    return { group: String(key), title, filter, first: first - own.length, count: own.length };
  });
  return [ranked.flatMap(([, own]) => own), groups];
};

const counted = (kept, all, noun = "error") => (all === null || kept === all ? plural(kept, noun) : `${kept.toLocaleString("en")} of ${plural(all, noun)}`);

// The errors that a state lets through, in order: those of this page, or those that the program behind it finds.
class Held {
  constructor(all, state) {
    this.all = all;
    [this.errors, this.groups] = grouped(sorted(all.filter(filterOf(state)), state.sort), state.group);
    this.count = this.errors.length;
  }

  at(index) {
    return this.errors[index];
  }

  async get(index) {
    return this.errors[index];
  }

  async find(place) {
    const at = this.errors.findIndex((error) => isAt(error, place));
    return { at, error: at < 0 ? this.all.find((error) => isAt(error, place)) : this.errors[at] };
  }
}

const SERVED = byId("panel").dataset.served !== undefined;
const PAGE = 100; // errors that are asked for at once

const ask = async (name, ...values) => {
  const answer = await fetch(`${name}?q=${encodeURIComponent(JSON.stringify(values))}`);
  if (!answer.ok) throw new Error(`stickler view answered ${answer.status}`);
  return answer.json();
};

// The numbers of the bar of a histogram that begins here, as `binOf` has them.
const boundsOf = (lower) => {
  if (!lower || Number(lower) >= 1) return lower ? { from: 1 } : {};
  const [from, end] = [Number(lower) - 1e-9 / BINS, Number(lower) + (1 - 1e-9) / BINS];
  return { from, below: end > 1 - 1 / BINS / 2 ? 1 : end };
};

const said = (query) => Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null && value !== ""));

// What a state asks the program for; runs/page_index.py reads it.
const queryOf = (state) => {
  const range = Fields.range(state.field);
  const query = {
    find: state.find.trim().toLowerCase(),
    ...(range ? { first: range[0], end: range[1] } : { field: state.field }),
    class: state.class,
    outcome: state.outcome,
    cause: state.cause && causeAt(state.cause) >= 0 ? causeAt(state.cause) : null,
    gt: state.gt,
    pred: state.pred,
    of: state.of,
    at: state.at && Fields.range(state.at) ? Fields.range(state.at)[0] : null,
    values: { values: 1, wholes: 0 }[state.what] ?? null,
    judged: state.what === "judged" ? 1 : null,
    ...boundsOf(state.similarity),
    sort: state.sort,
    group: state.group,
  };
  return said(query);
};

// What the program behind the page finds by a query, page by page; `kind` is in the names of its questions.
class Pages {
  constructor(kind, query, count, drawn) {
    Object.assign(this, { kind, query, count, drawn });
    this.pages = new Map();
  }

  page(number) {
    if (!this.pages.has(number)) {
      const rows = ask(`page${this.kind}`, this.query, number * PAGE, PAGE).then((lines) => lines.map((line) => JSON.parse(line)));
      this.pages.set(number, { rows });
      rows.then((read) => {
        this.pages.get(number).read = read;
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

class Asked extends Pages {
  static async of(state, drawn) {
    const query = queryOf(state);
    const { count, groups } = await ask("select", query);
    return new Asked(state, query, count, groups, drawn);
  }

  constructor(state, query, count, groups, drawn) {
    super("", query, count, drawn);
    let first = 0;
    this.groups = state.group
      ? groups.map(([key, number, gt, pred]) => {
          first += number;
          const [title, filter] = GROUPS[state.group](key, { [GT]: gt || null, [PRED]: pred || null });
          return { group: String(key), title, filter, first: first - number, count: number };
        })
      : null;
  }
}
