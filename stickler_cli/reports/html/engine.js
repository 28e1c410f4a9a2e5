// Finds, sorts and groups errors and documents. All of it is one function that uses nothing outside of it: it is the
// whole program of a worker, so that no list of a million errors holds up the page. runs/page_index.py answers the same
// questions where the program serves the page.

const engine = () => {
  const [ROW, DOCUMENT, PATH, FIELD, OUTCOME, CLASS, GT, PRED, SIMILARITY, INSIDE, VALUES, , , , CAUSE] = Array(15).keys();
  const [ID, STATUS, SCORE, , FD, FA, FN, BY, LOST] = Array(9).keys();
  const MOST_POINTS = 1500; // of a scatter: more cover each other
  const REMEMBERED = 4; // selections: those that one goes back to
  const held = { "non-matches": [], documents: [], comparisons: new Map() };
  const found = new Map();

  const textOf = (value) => (Array.isArray(value) ? value[0] : value) ?? "";
  const lostBy = (row) => row[FD] + row[FA] + row[FN];

  const unpack = async (packed) => {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is older than 2023 and cannot unpack the lists of errors and documents");
    const text = atob(packed.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  const TESTS = {
    "non-matches": {
      find: (text) => (error) => [error[DOCUMENT], error[PATH], textOf(error[GT]), textOf(error[PRED])].some((part) => part.toLowerCase().includes(text)),
      first: (row) => (error) => error[ROW] >= row,
      end: (row) => (error) => error[ROW] < row,
      field: (path) => (error) => error[PATH] === path || error[FIELD] === path,
      class: (name) => (error) => error[CLASS] === name,
      outcome: (names) => (error) => !names.length || names.includes(error[OUTCOME].toLowerCase()),
      cause: (at) => (error) => error[CAUSE] === at,
      caused: () => (error) => error[CAUSE] >= 0,
      gt: (json) => (error) => (textOf(error[GT]) || "absent") === json,
      pred: (json) => (error) => (textOf(error[PRED]) || "absent") === json,
      of: (id) => (error) => error[DOCUMENT] === id,
      at: (row) => (error) => error[ROW] === row,
      values: (single) => (error) => (error[VALUES] === null) === Boolean(single),
      judged: () => (error) => error[INSIDE] === null,
      from: (least) => (error) => error[SIMILARITY] !== null && error[SIMILARITY] >= least,
      below: (end) => (error) => error[SIMILARITY] !== null && error[SIMILARITY] < end,
    },
    documents: {
      find: (text) => (row) => row[ID].toLowerCase().includes(text),
      from: (least) => (row) => row[SCORE] !== null && row[SCORE] >= least,
      below: (end) => (row) => row[SCORE] !== null && row[SCORE] < end,
      wrong: () => (row) => lostBy(row) > 0 || row[STATUS] !== "evaluated",
      lost: () => (row) => lostBy(row) > 0,
      group: (name, { by }) => (row) => row[BY][by] === name && row[SCORE] !== null,
    },
  };

  // What rows are sorted and grouped by.
  const KEYS = {
    document: (error) => error[DOCUMENT],
    field: (error) => error[FIELD],
    class: (error) => error[CLASS] || "",
    pair: (error) => `${textOf(error[GT])} ${textOf(error[PRED])}`,
    outcome: (error) => error[OUTCOME],
    similarity: (error) => error[SIMILARITY] ?? -1,
    gt: (error) => textOf(error[GT]),
    pred: (error) => textOf(error[PRED]),
    cause: (error) => error[CAUSE],
    id: (row) => row[ID],
    errors: (row) => -lostBy(row),
  };

  const sorted = (rows, order) => {
    const key = KEYS[order.replace(/^-/, "")];
    if (!key) return rows;
    const sign = order.startsWith("-") ? -1 : 1;
    const keyed = rows.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
    return keyed.map(([, row]) => row);
  };

  // Put rows that have a key in common one after the other: causes by what they cost, others by their number.
  const grouped = (rows, name) => {
    const groups = new Map();
    for (const row of rows) {
      const key = KEYS[name](row);
      const own = groups.get(key);
      if (own) own.push(row);
      else groups.set(key, [row]);
    }
    const rank = name === "cause" ? (key) => (key < 0 ? Infinity : key) : (key, own) => -own.length;
    const ranked = [...groups].sort(([a, its], [b, others]) => rank(a, its) - rank(b, others) || (a < b ? -1 : 1));
    return { rows: ranked.flatMap(([, own]) => own), groups: ranked.map(([key, own]) => [key, own.length, textOf(own[0][GT]), textOf(own[0][PRED])]) };
  };

  const selection = (kind, query) => {
    const name = kind + JSON.stringify(query);
    if (!found.has(name)) {
      const tests = Object.entries(TESTS[kind]).filter(([key]) => query[key] !== undefined).map(([key, make]) => make(query[key], query));
      const rows = sorted(held[kind].filter((row) => tests.every((test) => test(row))), query.sort ?? "");
      found.set(name, query.group && kind === "non-matches" ? grouped(rows, query.group) : { rows, groups: [] });
      if (found.size > REMEMBERED) found.delete(found.keys().next().value);
    }
    return found.get(name);
  };

  const isAt = (error, { document, path, as }) => error[PATH] === path && error[DOCUMENT] === document && (!as || error[OUTCOME].toLowerCase() === as);

  // What drawings need of the errors: values lost by the index of their item, and true against predicted numbers.
  const pictures = (errors = held["non-matches"]) => {
    const [indexes, numbers] = [[], []];
    for (const error of errors) {
      if (error[VALUES] !== null) continue;
      const index = /\[(\d+)\]/.exec(error[PATH])?.[1];
      if (index !== undefined) indexes[index] = (indexes[index] ?? 0) + 1;
      if (error[OUTCOME] !== "FD") continue;
      const [gt, pred] = [Number(textOf(error[GT])), Number(textOf(error[PRED]))];
      if (gt && pred && Number.isFinite(gt) && Number.isFinite(pred)) numbers.push([gt, pred, error[ROW], error[DOCUMENT], error[PATH]]);
    }
    const step = Math.max(numbers.length / MOST_POINTS, 1);
    const points = Array.from({ length: Math.ceil(numbers.length / step) }, (_, at) => numbers[Math.floor(at * step)]);
    return { indexes: Array.from(indexes, (count) => count ?? 0), points, numbers: numbers.length };
  };

  const answers = { unpack, pictures, of: (id) => held["non-matches"].filter((error) => error[DOCUMENT] === id), comparison: (id) => held.comparisons.get(id) };
  answers.take = async (packed) => {
    for (const [name, text] of Object.entries(packed)) held[name] = await unpack(text);
    held.comparisons = new Map(held.comparisons);
    return { errors: held["non-matches"].length, documents: held.documents.length };
  };
  for (const [kind, name, matches] of [["non-matches", "", isAt], ["documents", "-documents", (row, id) => row[ID] === id]]) {
    answers[`select${name}`] = (query) => ({ count: selection(kind, query).rows.length, groups: selection(kind, query).groups });
    answers[`page${name}`] = (query, first, count) => selection(kind, query).rows.slice(first, first + count);
    answers[`place${name}`] = (query, place) => {
      const { rows } = selection(kind, query);
      const at = rows.findIndex((row) => matches(row, place));
      const row = (at < 0 ? held[kind].find((each) => matches(each, place)) : rows[at]) ?? null;
      return { at, error: row, row };
    };
  }
  const answer = async (name, values) => answers[name](...values);
  if (typeof document === "undefined") {
    onmessage = ({ data: [number, name, values] }) => answer(name, values).then((value) => postMessage([number, value, null]), (error) => postMessage([number, null, error.message]));
  }
  return answer;
};
