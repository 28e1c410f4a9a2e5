// Filters, sorts and groups errors and documents. Everything is inside one function that uses no outer names, because its
// source is the whole program of a web worker: a list of a million errors then does not block the page. If `stickler
// view` serves the page, runs/page_index.py answers these questions instead, by the same `queries` (runs/page_queries.py).

/** @param {Queries} queries */
const engine = (queries) => {
  const [ROW, DOCUMENT, PATH, FIELD, OUTCOME, CLASS, GT, PRED, SIMILARITY, INSIDE, VALUES, , , , , CAUSE, WITHIN, BEFORE, AFTER] = Array(19).keys();
  const [ID, STATUS, SCORE, , FD, FA, FN, BY] = Array(8).keys();
  const MAX_POINTS = 1500; // points of the scatter plot; more would cover each other
  const MAX_SELECTIONS = 4; // selections kept in memory, for readers who go back to one
  const rowsOf = { "non-matches": [], documents: [], comparisons: new Map() };
  const selections = new Map();

  const textOf = (value) => (Array.isArray(value) ? value[0] : value) ?? "";
  const lostValuesOf = (row) => row[FD] + row[FA] + row[FN];
  // Return how many values some errors lost; an item that failed as a whole counts all values inside it.
  const sumOfLostValues = (errors) => errors.reduce((sum, error) => sum + (error[VALUES] ?? 1), 0);

  const unpack = async (packed) => {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is older than 2023 and cannot unpack the lists of errors and documents");
    const text = atob(packed.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  /** @type {Record<string, Record<string, (row: any) => any>>} */
  // Reads the cell of a column from a row; null means that the row has no such cell.
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
      is_wrong: (row) => Number(lostValuesOf(row) > 0 || row[STATUS] !== "evaluated"),
      has_lost: (row) => Number(lostValuesOf(row) > 0),
      loss_rank: (row) => -lostValuesOf(row),
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

  const makeFilter = (kind, key, value) => {
    const [test, column] = queries[kind].filters[key];
    const [passes, cellOf] = [TESTS[test], COLUMNS[kind][column]];
    return (row) => {
      const cell = cellOf(row);
      return cell !== null && passes(cell, value);
    };
  };

  // Return the function that gives the sort key of a row: one cell, or several cells joined into one text.
  const keyReader = (kind, order) => {
    const columns = queries[kind].orders[order]?.map((column) => COLUMNS[kind][column]);
    return columns?.length === 1 ? (row) => columns[0](row) ?? -1 : columns && ((row) => columns.map((read) => read(row)).join("\n"));
  };

  const sorted = (kind, rows, order) => {
    const keyOfRow = keyReader(kind, order.replace(/^-/, ""));
    if (!keyOfRow) return rows;
    const sign = order.startsWith("-") ? -1 : 1;
    const keyedRows = rows.map((row) => [keyOfRow(row), row]);
    keyedRows.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
    return keyedRows.map(([, row]) => row);
  };

  // Group rows by their key. Causes are ordered by their rank; groups of other keys by their number of rows.
  const grouped = (kind, rows, name) => {
    const groups = new Map();
    const keyOfRow = keyReader(kind, name);
    for (const row of rows) {
      const key = keyOfRow(row);
      const members = groups.get(key);
      if (members) members.push(row);
      else groups.set(key, [row]);
    }
    const rank = name === "cause" ? (key) => (key < 0 ? Infinity : key) : (key, members) => -members.length;
    const ranked = [...groups].sort(([key, members], [otherKey, others]) => rank(key, members) - rank(otherKey, others) || (key < otherKey ? -1 : 1));
    return { rows: ranked.flatMap(([, members]) => members), groups: ranked.map(([key, members]) => [key, members.length, textOf(members[0][GT]), textOf(members[0][PRED]), sumOfLostValues(members)]) };
  };

  const selection = (kind, query) => {
    const name = kind + JSON.stringify(query);
    if (!selections.has(name)) {
      const filters = Object.entries(query).filter(([key]) => key in queries[kind].filters).map(([key, value]) => makeFilter(kind, key, value));
      const rows = sorted(kind, rowsOf[kind].filter((row) => filters.every((passes) => passes(row))), query.sort ?? "");
      selections.set(name, queries[kind].groups.includes(query.group) ? grouped(kind, rows, query.group) : { rows, groups: [] });
      if (selections.size > MAX_SELECTIONS) selections.delete(selections.keys().next().value);
    }
    return selections.get(name);
  };

  const isErrorAt = (error, { document, path, as }) => error[PATH] === path && error[DOCUMENT] === document && (!as || error[OUTCOME].toLowerCase() === as);

  // Return the data of the drawings: lost values by the index of their item, and pairs of true and predicted numbers.
  const pictures = (errors = rowsOf["non-matches"]) => {
    const [indexes, wrongNumbers] = [[], []];
    for (const error of errors) {
      if (error[VALUES] !== null) continue;
      const index = /\[(\d+)\]/.exec(error[PATH])?.[1];
      if (index !== undefined) indexes[index] = (indexes[index] ?? 0) + 1;
      if (error[OUTCOME] !== "FD") continue;
      const [gt, pred] = [Number(textOf(error[GT])), Number(textOf(error[PRED]))];
      if (gt && pred && Number.isFinite(gt) && Number.isFinite(pred)) wrongNumbers.push([gt, pred, error[ROW], error[DOCUMENT], error[PATH]]);
    }
    const step = Math.max(wrongNumbers.length / MAX_POINTS, 1);
    const points = Array.from({ length: Math.ceil(wrongNumbers.length / step) }, (_, position) => wrongNumbers[Math.floor(position * step)]);
    return { indexes: Array.from(indexes, (count) => count ?? 0), points, numbers: wrongNumbers.length };
  };

  /** @type {Record<string, (...values: any[]) => any>} */
  const answers = { unpack, pictures, of: (id) => rowsOf["non-matches"].filter((error) => error[DOCUMENT] === id), comparison: (id) => rowsOf.comparisons.get(id) };
  answers.take = async (packed) => {
    for (const [name, text] of Object.entries(packed)) rowsOf[name] = await unpack(text);
    rowsOf.comparisons = new Map(rowsOf.comparisons);
    return { errors: rowsOf["non-matches"].length, documents: rowsOf.documents.length };
  };
  const hasId = (row, id) => row[ID] === id;
  const addAnswers = (kind, name, isRowAt) => {
    answers[`select${name}`] = (query) => {
      const { rows, groups } = selection(kind, query);
      return { count: rows.length, values: kind === "non-matches" ? sumOfLostValues(rows) : 0, groups };
    };
    answers[`page${name}`] = (query, first, count) => selection(kind, query).rows.slice(first, first + count);
    answers[`place${name}`] = (query, place) => {
      const { rows } = selection(kind, query);
      const index = rows.findIndex((row) => isRowAt(row, place));
      const row = (index < 0 ? rowsOf[kind].find((other) => isRowAt(other, place)) : rows[index]) ?? null;
      return { at: index, error: row, row };
    };
  };
  addAnswers("non-matches", "", isErrorAt);
  addAnswers("documents", "-documents", hasId);
  const answer = async (name, values) => answers[name](...values);
  if (typeof document === "undefined") {
    self.onmessage = ({ data: [number, name, values] }) => answer(name, values).then((value) => postMessage([number, value, null]), (error) => postMessage([number, null, error.message]));
  }
  return answer;
};
