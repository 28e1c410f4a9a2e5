// Finds, sorts and groups errors and documents. All of it is one function that uses nothing outside of it: it is the
// whole program of a worker, so that no list of a million errors holds up the page. Where `stickler view` serves the
// page, runs/page_index.py answers in its place, by the same `queries` (runs/page_queries.py).

/** @param {Queries} queries */
const engine = (queries) => {
  const [ROW, DOCUMENT, PATH, FIELD, OUTCOME, CLASS, GT, PRED, SIMILARITY, INSIDE, VALUES, , , , , CAUSE, WITHIN, BEFORE, AFTER] = Array(19).keys();
  const [ID, STATUS, SCORE, , FD, FA, FN, BY] = Array(8).keys();
  const MAX_POINTS = 1500; // of a scatter: more cover each other
  const MAX_SELECTIONS = 4; // that are remembered: those that one goes back to
  const rowsOf = { "non-matches": [], documents: [], comparisons: new Map() };
  const selections = new Map();

  const textOf = (value) => (Array.isArray(value) ? value[0] : value) ?? "";
  const lostBy = (row) => row[FD] + row[FA] + row[FN];
  // How many values are lost with some errors; an item that failed as a whole stands for those inside of it.
  const valuesOf = (errors) => errors.reduce((sum, error) => sum + (error[VALUES] ?? 1), 0);

  const unpack = async (packed) => {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is older than 2023 and cannot unpack the lists of errors and documents");
    const text = atob(packed.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  /** @type {Record<string, Record<string, (row: any) => any>>} */
  // How a cell of each column is read from a row; null is absent.
  const COLUMNS = {
    "non-matches": {
      row: (error) => error[ROW],
      document: (error) => error[DOCUMENT],
      path: (error) => error[PATH],
      field: (error) => error[FIELD],
      places: (error) => `\n${error[PATH]}\n${error[FIELD]}\n`,
      outcome: (error) => error[OUTCOME].toLowerCase(),
      class: (error) => error[CLASS] ?? "",
      similarity: (error) => error[SIMILARITY],
      gt: (error) => textOf(error[GT]),
      pred: (error) => textOf(error[PRED]),
      is_judged: (error) => Number(error[INSIDE] === null),
      is_value: (error) => Number(error[VALUES] === null),
      cause: (error) => error[CAUSE],
      within: (error) => error[WITHIN],
      has_cause: (error) => Number(error[CAUSE] >= 0),
      cause_before: (error) => error[BEFORE] ?? null,
      cause_after: (error) => error[AFTER] ?? null,
      text: (error) => `${error[DOCUMENT]}\n${error[PATH]}\n${textOf(error[GT])}\n${textOf(error[PRED])}`.toLowerCase(),
    },
    documents: {
      id: (row) => row[ID],
      score: (row) => row[SCORE],
      is_wrong: (row) => Number(lostBy(row) > 0 || row[STATUS] !== "evaluated"),
      has_lost: (row) => Number(lostBy(row) > 0),
      loss_rank: (row) => -lostBy(row),
      groups: (row) => (row[SCORE] === null ? "" : Object.entries(row[BY]).map((group) => JSON.stringify(group)).join("")),
      text: (row) => row[ID].toLowerCase(),
    },
  };

  const TESTS = {
    contains: (cell, value) => cell.includes(value),
    is: (cell, value) => cell === value,
    "at least": (cell, value) => cell >= value,
    below: (cell, value) => cell < value,
    among: (cell, values) => !values.length || values.includes(cell),
  };

  const filterOf = (kind, key, value) => {
    const [test, column] = queries[kind].filters[key];
    const [passes, read] = [TESTS[test], COLUMNS[kind][column]];
    return (row) => {
      const cell = read(row);
      return cell !== null && passes(cell, value);
    };
  };

  // What rows are sorted and grouped by: one cell, or several as one text.
  const keyOf = (kind, order) => {
    const columns = queries[kind].orders[order]?.map((column) => COLUMNS[kind][column]);
    return columns?.length === 1 ? (row) => columns[0](row) ?? -1 : columns && ((row) => columns.map((read) => read(row)).join("\n"));
  };

  const sorted = (kind, rows, order) => {
    const key = keyOf(kind, order.replace(/^-/, ""));
    if (!key) return rows;
    const sign = order.startsWith("-") ? -1 : 1;
    const keyed = rows.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
    return keyed.map(([, row]) => row);
  };

  // Put rows that have a key in common one after the other: causes by what they cost, others by their number.
  const grouped = (kind, rows, name) => {
    const groups = new Map();
    const keyOfRow = keyOf(kind, name);
    for (const row of rows) {
      const key = keyOfRow(row);
      const members = groups.get(key);
      if (members) members.push(row);
      else groups.set(key, [row]);
    }
    const rank = name === "cause" ? (key) => (key < 0 ? Infinity : key) : (key, members) => -members.length;
    const ranked = [...groups].sort(([a, first], [b, second]) => rank(a, first) - rank(b, second) || (a < b ? -1 : 1));
    return { rows: ranked.flatMap(([, members]) => members), groups: ranked.map(([key, members]) => [key, members.length, textOf(members[0][GT]), textOf(members[0][PRED]), valuesOf(members)]) };
  };

  const selection = (kind, query) => {
    const name = kind + JSON.stringify(query);
    if (!selections.has(name)) {
      const filters = Object.entries(query).filter(([key]) => key in queries[kind].filters).map(([key, value]) => filterOf(kind, key, value));
      const rows = sorted(kind, rowsOf[kind].filter((row) => filters.every((passes) => passes(row))), query.sort ?? "");
      selections.set(name, queries[kind].groups.includes(query.group) ? grouped(kind, rows, query.group) : { rows, groups: [] });
      if (selections.size > MAX_SELECTIONS) selections.delete(selections.keys().next().value);
    }
    return selections.get(name);
  };

  const isAt = (error, { document, path, as }) => error[PATH] === path && error[DOCUMENT] === document && (!as || error[OUTCOME].toLowerCase() === as);

  // What drawings need of the errors: values lost by the index of their item, and true against predicted numbers.
  const pictures = (errors = rowsOf["non-matches"]) => {
    const [indexes, numbers] = [[], []];
    for (const error of errors) {
      if (error[VALUES] !== null) continue;
      const index = /\[(\d+)\]/.exec(error[PATH])?.[1];
      if (index !== undefined) indexes[index] = (indexes[index] ?? 0) + 1;
      if (error[OUTCOME] !== "FD") continue;
      const [gt, pred] = [Number(textOf(error[GT])), Number(textOf(error[PRED]))];
      if (gt && pred && Number.isFinite(gt) && Number.isFinite(pred)) numbers.push([gt, pred, error[ROW], error[DOCUMENT], error[PATH]]);
    }
    const step = Math.max(numbers.length / MAX_POINTS, 1);
    const points = Array.from({ length: Math.ceil(numbers.length / step) }, (_, at) => numbers[Math.floor(at * step)]);
    return { indexes: Array.from(indexes, (count) => count ?? 0), points, numbers: numbers.length };
  };

  /** @type {Record<string, (...values: any[]) => any>} */
  const answers = { unpack, pictures, of: (id) => rowsOf["non-matches"].filter((error) => error[DOCUMENT] === id), comparison: (id) => rowsOf.comparisons.get(id) };
  answers.take = async (packed) => {
    for (const [name, text] of Object.entries(packed)) rowsOf[name] = await unpack(text);
    rowsOf.comparisons = new Map(rowsOf.comparisons);
    return { errors: rowsOf["non-matches"].length, documents: rowsOf.documents.length };
  };
  const isCalled = (row, id) => row[ID] === id;
  const addAnswers = (kind, name, matches) => {
    answers[`select${name}`] = (query) => {
      const { rows, groups } = selection(kind, query);
      return { count: rows.length, values: kind === "non-matches" ? valuesOf(rows) : 0, groups };
    };
    answers[`page${name}`] = (query, first, count) => selection(kind, query).rows.slice(first, first + count);
    answers[`place${name}`] = (query, place) => {
      const { rows } = selection(kind, query);
      const at = rows.findIndex((row) => matches(row, place));
      const row = (at < 0 ? rowsOf[kind].find((kept) => matches(kept, place)) : rows[at]) ?? null;
      return { at, error: row, row };
    };
  };
  addAnswers("non-matches", "", isAt);
  addAnswers("documents", "-documents", isCalled);
  const answer = async (name, values) => answers[name](...values);
  if (typeof document === "undefined") {
    self.onmessage = ({ data: [number, name, values] }) => answer(name, values).then((value) => postMessage([number, value, null]), (error) => postMessage([number, null, error.message]));
  }
  return answer;
};
