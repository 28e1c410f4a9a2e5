// Which documents a state of the page lets through, in what order: those of this page, or those that the program
// behind it finds.

const AT_ONCE = 1000; // documents that a question may ask for

const errorsOf = (row) => row[FD] + row[FA] + row[FN];

class HeldDocuments {
  constructor(all, state) {
    this.all = all;
    const find = state.find.trim().toLowerCase();
    const tests = narrowedDocuments(state).map(({ test }) => test);
    this.rows = all.filter((row) => tests.every((test) => test(row)) && (!state.wrong || errorsOf(row) > 0 || row[STATUS] !== "evaluated") && row[ID].toLowerCase().includes(find));
    if (state.sort === "id") this.rows.sort((a, b) => (a[ID] < b[ID] ? -1 : 1));
    if (state.sort === "errors") this.rows.sort((a, b) => errorsOf(b) - errorsOf(a));
    this.count = this.rows.length;
  }

  at(index) {
    return this.rows[index];
  }

  async get(index) {
    return this.rows[index];
  }

  async find(id) {
    const at = this.rows.findIndex((row) => row[ID] === id);
    return { at, row: at < 0 ? this.all.find((row) => row[ID] === id) : this.rows[at] };
  }
}

class AskedDocuments extends Pages {
  // runs/page_index.py reads the query.
  static async of(state, drawn) {
    const query = said({
      find: state.find.trim().toLowerCase(),
      wrong: state.wrong ? 1 : null,
      ...boundsOf(state.score),
      by: state.group && state.by,
      group: state.group,
      sort: state.sort,
    });
    return new AskedDocuments("-documents", query, (await ask("select-documents", query)).count, drawn);
  }

  // The documents that lost most values, as far as there is room.
  static async worst(most) {
    const query = { lost: 1, sort: "errors" };
    const { count } = await ask("select-documents", query);
    const parts = [];
    for (let first = 0; first < Math.min(count, most); first += AT_ONCE) parts.push(ask("page-documents", query, first, Math.min(AT_ONCE, most - first)));
    return [(await Promise.all(parts)).flat().map((line) => JSON.parse(line)), count];
  }
}
