// A grid of documents by fields, which shows whether errors gather in documents or in fields. Only visible cells are drawn.

const Grid = (() => {
  const FONT = "12px system-ui, sans-serif";
  const phones = matchMedia("(max-width: 760px)");
  let rowHeight = 16; // pixels; 24 on a phone, large enough for a finger
  const MAX_NAME_WIDTH = 160; // pixels of the name of a field; of a longer name only the end is shown
  const SLANT = Math.PI / 3;
  const MAX_COLUMNS = 40; // with more columns, neither names nor a pattern can be seen
  const DOCUMENT_NAMES_WIDTH = 72; // pixels that the names of documents need; without this room they are left out
  const CELL_WIDTHS = [14, 26]; // smallest and largest width of a cell in pixels
  const area = byId("grid");
  const MAX_DOCUMENTS = 5000; // documents that the grid asks for: more rows than anyone looks at
  if (!area) return { start: () => {}, MAX_DOCUMENTS };
  const canvas = area.querySelector("canvas");
  const space = area.querySelector("div");
  const cellText = byId("grid-cell");
  const SLANTED_NAMES_WIDTH = 96; // pixels that the slanted names of the last fields reach beyond their columns
  const context = canvas.getContext("2d");
  const forcedColors = matchMedia("(forced-colors: active)");
  let rows = []; // [id of the document, Map of the row of a field to its lost values, lost values in total]
  let fields = []; // [row in the table of fields, path, lost values]
  let columns = []; // the fields that there is room for
  let columnNames = []; // the text above each column
  let labelsHeight = 0; // height of these texts in pixels
  let cursor = null; // [row, column]
  let cellWidth = CELL_WIDTHS[0];

  const lostAt = (row, column) => rows[row]?.[1].get(columns[column]?.[0]) ?? 0;

  // Return the end of a path that fits above a column.
  const shortenedName = (path) => {
    let text = path;
    for (let cut = 1; context.measureText(text).width > MAX_NAME_WIDTH; cut += 1) text = `…${path.slice(cut)}`;
    return text;
  };

  // Cut a text to a width in pixels.
  const cutToWidth = (text, pixels) => {
    let cut = text;
    for (let length = text.length - 1; length > 0 && context.measureText(cut).width > pixels; length -= 1) cut = `${text.slice(0, length)}…`;
    return cut;
  };

  // Fit the columns into the width of the page.
  const measure = () => {
    rowHeight = phones.matches ? 24 : 16;
    const room = area.clientWidth - SLANTED_NAMES_WIDTH;
    const count = Math.min(fields.length, Math.floor(room / CELL_WIDTHS[0]), MAX_COLUMNS);
    columns = fields.slice(0, count);
    cellWidth = Math.min(CELL_WIDTHS[1], Math.max(CELL_WIDTHS[0], Math.floor(room / Math.max(count, 1))));
    context.font = FONT;
    columnNames = columns.map(([, path]) => shortenedName(path));
    labelsHeight = Math.ceil(Math.max(...columnNames.map((name) => context.measureText(name).width), 0) * Math.sin(SLANT)) + 16;
    space.style.height = `${labelsHeight + rows.length * rowHeight}px`;
    byId("grid-more").textContent = count < fields.length ? ` ${plural(fields.length - count, "field")} that lost fewer values have no room.` : "";
    draw();
  };

  const draw = () => {
    const scale = window.devicePixelRatio || 1;
    const [viewWidth, viewHeight] = [area.clientWidth, area.clientHeight];
    canvas.width = viewWidth * scale;
    canvas.height = viewHeight * scale;
    canvas.style.width = `${viewWidth}px`;
    canvas.style.height = `${viewHeight}px`;
    const style = getComputedStyle(document.documentElement);
    const color = (name, forced) => (forcedColors.matches ? forced : style.getPropertyValue(name).trim());
    context.scale(scale, scale);
    context.font = FONT;
    context.fillStyle = color("--paper", "Canvas");
    context.fillRect(0, 0, viewWidth, viewHeight);
    const first = Math.floor(area.scrollTop / rowHeight);
    const last = Math.min(rows.length, Math.ceil((area.scrollTop + viewHeight - labelsHeight) / rowHeight));
    const mostLost = Math.max(1, ...rows.slice(first, last).map(([, cells]) => Math.max(...cells.values())));
    for (let row = first; row < last; row += 1) {
      const top = labelsHeight + row * rowHeight - area.scrollTop;
      for (let column = 0; column < columns.length; column += 1) {
        const lost = lostAt(row, column);
        context.globalAlpha = lost ? 0.4 + 0.6 * Math.sqrt(lost / mostLost) : 1;
        context.fillStyle = lost ? color("--fd", "CanvasText") : color("--hover", "Canvas");
        context.fillRect(column * cellWidth, top, cellWidth - 1, rowHeight - 1);
      }
      context.globalAlpha = 1;
      const left = columns.length * cellWidth + 8;
      if (viewWidth - left > DOCUMENT_NAMES_WIDTH) {
        context.fillStyle = color("--soft", "CanvasText");
        context.fillText(cutToWidth(visible(rows[row][0]), viewWidth - left), left, top + rowHeight / 2 + 4);
      }
      if (cursor && cursor[0] === row) {
        context.strokeStyle = color("--ink", "Highlight");
        context.lineWidth = 2;
        context.strokeRect(cursor[1] * cellWidth, top, cellWidth - 1, rowHeight - 1);
      }
    }
    context.fillStyle = color("--paper", "Canvas");
    context.fillRect(0, 0, viewWidth, labelsHeight);
    context.fillStyle = color("--soft", "CanvasText");
    columnNames.forEach((name, column) => {
      context.save();
      context.translate(column * cellWidth + cellWidth / 2 + 3, labelsHeight - 5);
      context.rotate(-SLANT);
      context.fillText(name, 0, 0);
      context.restore();
    });
  };

  const describeCell = () => {
    if (!cursor) return;
    const lost = lostAt(...cursor);
    cellText.replaceChildren(`${visible(rows[cursor[0]][0])} · ${columns[cursor[1]][1]}: ${lost ? `${plural(lost, "value")} lost` : "nothing lost"}`);
  };

  const move = (row, column) => {
    if (!columns.length) measure(); // a key may be pressed before the page is laid out
    if (!columns.length) return;
    cursor = [Math.min(Math.max(row, 0), rows.length - 1), Math.min(Math.max(column, 0), columns.length - 1)];
    const top = cursor[0] * rowHeight;
    const visibleHeight = area.clientHeight - labelsHeight;
    if (top < area.scrollTop) area.scrollTop = top;
    else if (top + rowHeight > area.scrollTop + visibleHeight) area.scrollTop = top + rowHeight - visibleHeight;
    describeCell();
    draw();
  };

  const open = () => {
    if (!cursor) return;
    const id = rows[cursor[0]][0];
    if (area.dataset.listed && lostAt(...cursor)) State.openLink(`#errors&of=${encodeURIComponent(id)}&at=${encodeURIComponent(columns[cursor[1]][1])}&what=values`, { scrolls: true });
    else State.showInPanel({ document: id });
  };

  const cellUnder = (event) => {
    const box = area.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - labelsHeight + area.scrollTop) / rowHeight);
    const column = Math.floor((event.clientX - box.left) / cellWidth);
    return event.clientY - box.top >= labelsHeight && row < rows.length && column < columns.length ? [row, column] : null;
  };

  const key = (event) => {
    const page = Math.max(1, Math.floor((area.clientHeight - labelsHeight) / rowHeight) - 1);
    const steps = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [page, 0], PageUp: [-page, 0], Home: [-Infinity, 0], End: [Infinity, 0] };
    if (event.key === "Enter") open();
    else if (!(event.key in steps)) return;
    else if (!cursor) move(0, 0);
    else move(cursor[0] + steps[event.key][0], cursor[1] + steps[event.key][1]);
    event.preventDefault();
  };

  // Fill the grid with documents, in the columns that the list of documents has; `total` counts all that lost values.
  const start = (documents, total = null) => {
    const lostByField = new Map();
    rows = documents
      .filter((row) => row[LOST].length)
      .map((row) => {
        const cells = new Map();
        for (let index = 0; index < row[LOST].length; index += 2) cells.set(row[LOST][index], row[LOST][index + 1]);
        for (const [field, count] of cells) lostByField.set(field, (lostByField.get(field) ?? 0) + count);
        return [row[ID], cells, Array.from(cells.values()).reduce((a, b) => a + b, 0)];
      })
      .sort((a, b) => b[2] - a[2] || (a[0] < b[0] ? -1 : 1));
    fields = Array.from(lostByField, ([row, count]) => [row, Fields.pathOf(row), count]).sort((a, b) => b[2] - a[2] || a[0] - b[0]);
    byId("grid-part").hidden = !rows.length;
    byId("grid-count").textContent = countText(rows.length, total, "document");
    area.addEventListener("scroll", draw, { passive: true });
    area.addEventListener("keydown", key);
    area.addEventListener("focus", () => cursor || (area.matches(":focus-visible") && rows.length && move(0, 0)));
    area.addEventListener("mousemove", (event) => {
      const cell = cellUnder(event);
      if (!cell) return;
      cursor = cell;
      describeCell();
      draw();
    });
    area.addEventListener("click", (event) => {
      const cell = cellUnder(event);
      if (!cell) return;
      cursor = cell;
      open();
    });
    for (const media of [forcedColors, matchMedia("(prefers-color-scheme: dark)")]) media.addEventListener("change", draw);
    new ResizeObserver(measure).observe(area);
  };

  return { start, MAX_DOCUMENTS };
})();
