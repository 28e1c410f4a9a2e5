// A list of any length that keeps only its visible rows in the page, and works as a grid for the keyboard.

const MIN_VISIBLE_ROWS = 3; // rows that even the shortest list has room for
const ROWS_BEYOND_VIEW = 6; // rows that are drawn above and below the visible ones

class List {
  // `columns` has the class, title and sort key of each column. `cells(item)` makes the cells of a row; an item
  // `{ group, title, note, folded }` is the header row of a group, which `fold(group)` folds or unfolds. `open(item)` shows
  // an item in the panel. Column headers call `sort(key)`, and the keys 1 to 4 call `judge(item, key)`.
  constructor(holder, { label, columns, cells, open, sort = null, fold = null, judge = null }) {
    this.holder = holder;
    this.columns = columns;
    this.cells = cells;
    this.open = open;
    this.fold = fold;
    this.judge = judge;
    this.count = 0;
    this.itemAt = (_index) => undefined;
    this.active = 0;
    this.column = -1; // column of the focused cell; -1 means the whole row
    this.rows = new Map();
    this.headers = columns.map(([name, title, key]) =>
      element("span", { role: "columnheader", class: name, title }, key && sort ? element("button", { type: "button", tabindex: "-1", onclick: () => sort(key) }, title) : title),
    );
    this.space = element("div", { role: "presentation" });
    this.view = element("div", { class: "view", role: "rowgroup" }, this.space);
    this.body = element("div", { role: "grid", "aria-label": label, "aria-colcount": String(columns.length) });
    this.body.append(element("div", { role: "rowgroup" }, element("div", { class: "head", role: "row" }, ...this.headers)), this.view);
    this.emptyNote = element("p", { class: "empty", hidden: true }, "Nothing to show.");
    holder.replaceChildren(this.body, this.emptyNote);
    this.view.addEventListener("scroll", () => this.draw(), { passive: true });
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.view.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.draw(true)).observe(this.view);
  }

  // Show `count` items. `item(index)` returns one, or undefined while it is being loaded.
  show(count, item, { grouped = false, order = "" } = {}) {
    this.count = count;
    this.itemAt = item;
    this.active = 0;
    this.column = -1;
    this.body.setAttribute("role", grouped ? "treegrid" : "grid");
    this.body.setAttribute("aria-rowcount", String(count + 1));
    this.columns.forEach(([, , key], index) => {
      const direction = key && order === key ? "ascending" : key && order === `-${key}` ? "descending" : null;
      if (direction) this.headers[index].setAttribute("aria-sort", direction);
      else this.headers[index].removeAttribute("aria-sort");
    });
    this.view.scrollTop = 0;
    this.draw(true);
  }

  // Draw the rows that are visible now; `isNew` draws all of them again, since the items may have changed.
  draw(isNew = false) {
    const height = parseFloat(getComputedStyle(this.holder).getPropertyValue("--row"));
    if (isNew) {
      const focused = this.view.contains(document.activeElement);
      for (const row of this.rows.values()) row.remove();
      this.rows.clear();
      this.height = height;
      // Browsers draw at most about 16 million pixels: in a longer list, each scrolled pixel moves the rows by `scale`.
      this.scale = Math.max((this.count * height) / 12e6, 1);
      this.space.style.height = `${(this.count * height - 1) / this.scale}px`; // the last row has no line below it
      this.view.style.maxHeight = `${Math.max(this.count, MIN_VISIBLE_ROWS) * height - 1}px`;
      this.body.hidden = !this.count;
      this.emptyNote.hidden = Boolean(this.count);
      this.refocuses = focused;
    }
    const viewHeight = this.view.clientHeight;
    const top = this.view.scrollTop;
    const first = Math.max(Math.floor((top * this.scale) / height) - ROWS_BEYOND_VIEW, 0);
    const last = Math.min(Math.ceil((top * this.scale + viewHeight) / height) + ROWS_BEYOND_VIEW, this.count);
    for (const [index, row] of this.rows) {
      const hasFocus = index === this.active && row.contains(document.activeElement);
      if ((index < first || index >= last) && !hasFocus) {
        row.remove();
        this.rows.delete(index);
      }
    }
    const shift = this.scale > 1 ? top - top * this.scale : 0;
    for (let index = first; index < last; index += 1) {
      let row = this.rows.get(index);
      const item = this.itemAt(index);
      if (!row || (row.isPlaceholder && item !== undefined)) {
        this.refocuses ||= Boolean(row?.contains(document.activeElement));
        row?.remove();
        row = this.row(index, item);
        this.rows.set(index, row);
        const after = this.rows.get(index - 1);
        if (after) after.after(row);
        else this.space.prepend(row);
      }
      row.style.transform = `translateY(${index * height + shift}px)`;
      row.tabIndex = index === this.active ? 0 : -1;
      row.classList.toggle("active", Boolean(this.touched) && index === this.active);
    }
    if (!this.rows.has(this.active) && this.rows.size) this.rows.get(first).tabIndex = 0;
    if (this.refocuses) this.focus();
    this.refocuses = false;
  }

  row(index, item) {
    const common = { role: "row", "aria-rowindex": String(index + 2), "data-index": String(index) };
    let row;
    if (item === undefined) row = element("div", { ...common, class: "row" }, element("span", { role: "gridcell" }, "…"));
    else if (item.group !== undefined) {
      row = element(
        "div",
        { ...common, class: "row group", "aria-level": "1", "aria-expanded": String(!item.folded) },
        element("span", { role: "gridcell", class: "title" }, ...item.title),
        element("span", { role: "gridcell", class: "note" }, item.note),
      );
    } else {
      row = element("div", { ...common, class: "row", "aria-level": this.body.getAttribute("role") === "treegrid" ? "2" : null }, ...this.cells(item));
      for (const cell of row.children) cell.setAttribute("role", "gridcell");
    }
    for (const cell of row.children) cell.tabIndex = -1;
    row.isPlaceholder = item === undefined;
    return row;
  }

  key(event) {
    if (!this.count || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(Math.floor(this.view.clientHeight / this.height) - 1, 1);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const item = this.itemAt(this.active);
    if (event.key in steps) {
      this.move(this.active + steps[event.key]);
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const right = event.key === "ArrowRight";
      if (item?.group !== undefined && item.folded === right && this.column < 0) this.fold(item.group);
      else this.column = Math.min(Math.max(this.column + (right ? 1 : -1), -1), this.rows.get(this.active).children.length - 1);
      this.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      if (item === undefined || event.target.matches("button")) return;
      this.choose(item);
    } else if (this.judge && "1234".includes(event.key) && typeof item === "number") {
      this.judge(item, event.key);
    } else return;
    event.preventDefault();
  }

  choose(item) {
    if (item.group === undefined) this.open(item);
    else this.fold(item.group);
  }

  // Make an item the active one, scroll to it and give it the focus.
  move(index) {
    this.activate(index);
    this.focus();
  }

  // Make an item the active one and scroll to it, without moving the focus.
  activate(index) {
    this.touched = true;
    this.active = Math.min(Math.max(index, 0), this.count - 1);
    const [viewHeight, rowTop, viewTop] = [this.view.clientHeight, this.active * this.height, this.view.scrollTop * this.scale];
    if (rowTop < viewTop) this.view.scrollTop = rowTop / this.scale;
    else if (rowTop + this.height > viewTop + viewHeight) this.view.scrollTop = (rowTop + this.height - viewHeight) / this.scale;
    this.draw();
  }

  focus() {
    const row = this.rows.get(this.active);
    const cell = this.column < 0 ? row : row?.children[this.column];
    (cell || row)?.focus({ preventScroll: true });
  }

  click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    this.touched = true;
    this.active = Number(row.dataset.index);
    this.column = -1;
    this.draw();
    row.focus({ preventScroll: true });
    const item = this.itemAt(this.active);
    if (item !== undefined) this.choose(item);
  }
}
