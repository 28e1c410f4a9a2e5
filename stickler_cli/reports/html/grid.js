// Documents by fields: whether errors are a document's or a field's. Only cells that can be seen are drawn.

const Grid = (() => {
  const FONT = "12px system-ui, sans-serif";
  const ROW_HEIGHT = 16;
  const LONGEST = 160; // pixels of the name of a field; of a longer one its end is shown
  const SLANT = Math.PI / 3;
  const MOST_COLUMNS = 40; // with more of them, neither names nor a pattern can be seen
  const NAMES = 120; // pixels that the names of documents take, where there are as many
  const WIDTHS = [14, 26]; // pixels of the width of a cell
  const area = byId("grid");
  const MOST = 5000; // documents that are asked for: more rows than anyone looks at
  if (!area) return { start: () => {}, MOST };
  const canvas = area.querySelector("canvas");
  const space = area.querySelector("div");
  const told = byId("grid-cell");
  const BESIDE = 96; // pixels that the slanted names of the last fields take
  const pen = canvas.getContext("2d");
  const rights = matchMedia("(forced-colors: active)");
  let rows = []; // [id, Map of the row of a field to values lost, how many in all]
  let fields = []; // [row, path, values lost]
  let columns = []; // those that there is room for
  let names = []; // what is written above them
  let labels = 0; // pixels that these take
  let cursor = null; // [row, column]
  let width = WIDTHS[0];

  const lostAt = (row, column) => rows[row]?.[1].get(columns[column]?.[0]) ?? 0;

  const ending = (path) => {
    let text = path;
    for (let cut = 1; pen.measureText(text).width > LONGEST; cut += 1) text = `…${path.slice(cut)}`;
    return text;
  };

  const measure = () => {
    const room = area.clientWidth - BESIDE;
    const count = Math.min(fields.length, Math.floor(room / WIDTHS[0]), MOST_COLUMNS);
    columns = fields.slice(0, count);
    width = Math.min(WIDTHS[1], Math.max(WIDTHS[0], Math.floor(room / Math.max(count, 1))));
    pen.font = FONT;
    names = columns.map(([, path]) => ending(path));
    labels = Math.ceil(Math.max(...names.map((name) => pen.measureText(name).width), 0) * Math.sin(SLANT)) + 16;
    space.style.height = `${labels + rows.length * ROW_HEIGHT}px`;
    byId("grid-more").textContent = count < fields.length ? ` ${plural(fields.length - count, "field")} that lost fewer values have no room.` : "";
    draw();
  };

  const draw = () => {
    const scale = window.devicePixelRatio || 1;
    const [wide, high] = [area.clientWidth, area.clientHeight];
    canvas.width = wide * scale;
    canvas.height = high * scale;
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${high}px`;
    const style = getComputedStyle(document.documentElement);
    const color = (name, forced) => (rights.matches ? forced : style.getPropertyValue(name).trim());
    pen.scale(scale, scale);
    pen.font = FONT;
    pen.fillStyle = color("--paper", "Canvas");
    pen.fillRect(0, 0, wide, high);
    const first = Math.floor(area.scrollTop / ROW_HEIGHT);
    const last = Math.min(rows.length, Math.ceil((area.scrollTop + high - labels) / ROW_HEIGHT));
    const most = Math.max(1, ...rows.slice(first, last).map(([, cells]) => Math.max(...cells.values())));
    for (let row = first; row < last; row += 1) {
      const top = labels + row * ROW_HEIGHT - area.scrollTop;
      for (let column = 0; column < columns.length; column += 1) {
        const lost = lostAt(row, column);
        pen.globalAlpha = lost ? 0.4 + 0.6 * Math.sqrt(lost / most) : 1;
        pen.fillStyle = lost ? color("--fd", "CanvasText") : color("--hover", "Canvas");
        pen.fillRect(column * width, top, width - 1, ROW_HEIGHT - 1);
      }
      pen.globalAlpha = 1;
      if (wide - columns.length * width > NAMES) {
        pen.fillStyle = color("--soft", "CanvasText");
        pen.fillText(visible(rows[row][0]), columns.length * width + 8, top + ROW_HEIGHT - 4);
      }
      if (cursor && cursor[0] === row) {
        pen.strokeStyle = color("--ink", "Highlight");
        pen.lineWidth = 2;
        pen.strokeRect(cursor[1] * width, top, width - 1, ROW_HEIGHT - 1);
      }
    }
    pen.fillStyle = color("--paper", "Canvas");
    pen.fillRect(0, 0, wide, labels);
    pen.fillStyle = color("--soft", "CanvasText");
    names.forEach((name, column) => {
      pen.save();
      pen.translate(column * width + width / 2 + 3, labels - 5);
      pen.rotate(-SLANT);
      pen.fillText(name, 0, 0);
      pen.restore();
    });
  };

  const tell = () => {
    if (!cursor) return;
    const lost = lostAt(...cursor);
    told.replaceChildren(`${visible(rows[cursor[0]][0])} · ${columns[cursor[1]][1]}: ${lost ? `${plural(lost, "value")} lost` : "nothing lost"}`);
  };

  const move = (row, column) => {
    if (!columns.length) measure(); // a key may come before the page was laid out
    if (!columns.length) return;
    cursor = [Math.min(Math.max(row, 0), rows.length - 1), Math.min(Math.max(column, 0), columns.length - 1)];
    const top = cursor[0] * ROW_HEIGHT;
    const room = area.clientHeight - labels;
    if (top < area.scrollTop) area.scrollTop = top;
    else if (top + ROW_HEIGHT > area.scrollTop + room) area.scrollTop = top + ROW_HEIGHT - room;
    tell();
    draw();
  };

  const open = () => {
    if (!cursor) return;
    const id = rows[cursor[0]][0];
    if (area.dataset.listed && lostAt(...cursor)) State.go(`#errors&of=${encodeURIComponent(id)}&at=${encodeURIComponent(columns[cursor[1]][1])}&what=values`, { scrolls: true });
    else State.show({ document: id });
  };

  const pointed = (event) => {
    const box = area.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - labels + area.scrollTop) / ROW_HEIGHT);
    const column = Math.floor((event.clientX - box.left) / width);
    return event.clientY - box.top >= labels && row < rows.length && column < columns.length ? [row, column] : null;
  };

  const key = (event) => {
    const page = Math.max(1, Math.floor((area.clientHeight - labels) / ROW_HEIGHT) - 1);
    const steps = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [page, 0], PageUp: [-page, 0], Home: [-Infinity, 0], End: [Infinity, 0] };
    if (event.key === "Enter") open();
    else if (!(event.key in steps)) return;
    else if (!cursor) move(0, 0);
    else move(cursor[0] + steps[event.key][0], cursor[1] + steps[event.key][1]);
    event.preventDefault();
  };

  // Take documents as the list of documents has them, of so many that lost values.
  const start = (documents, total = null) => {
    const lost = new Map();
    rows = documents
      .filter((row) => row[LOST].length)
      .map((row) => {
        const cells = new Map();
        for (let at = 0; at < row[LOST].length; at += 2) cells.set(row[LOST][at], row[LOST][at + 1]);
        for (const [field, count] of cells) lost.set(field, (lost.get(field) ?? 0) + count);
        return [row[ID], cells, Array.from(cells.values()).reduce((a, b) => a + b, 0)];
      })
      .sort((a, b) => b[2] - a[2] || (a[0] < b[0] ? -1 : 1));
    fields = Array.from(lost, ([row, count]) => [row, Fields.pathOf(row), count]).sort((a, b) => b[2] - a[2] || a[0] - b[0]);
    byId("grid-part").hidden = !rows.length;
    byId("grid-count").textContent = counted(rows.length, total, "document");
    area.addEventListener("scroll", draw, { passive: true });
    area.addEventListener("keydown", key);
    area.addEventListener("focus", () => cursor || (area.matches(":focus-visible") && rows.length && move(0, 0)));
    area.addEventListener("mousemove", (event) => {
      const place = pointed(event);
      if (!place) return;
      cursor = place;
      tell();
      draw();
    });
    area.addEventListener("click", (event) => {
      const place = pointed(event);
      if (!place) return;
      cursor = place;
      open();
    });
    for (const media of [rights, matchMedia("(prefers-color-scheme: dark)")]) media.addEventListener("change", draw);
    new ResizeObserver(measure).observe(area);
  };

  return { start, MOST };
})();
