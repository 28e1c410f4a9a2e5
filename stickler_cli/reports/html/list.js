// A list of any length: only the rows that can be seen are in the page. A grid for the keyboard.

const LEAST = 3; // rows that an empty list has room for
const BEYOND = 6; // rows above and below that are ready

class List {
  // `columns`: class, title and sort key of each; `cells(item)` makes a row, of a group `{ group, title, note }`, its title in parts;
  // `open(item)` shows one; `sort(key)` is called by heads, `judge(item, key)` by the keys 1 to 4.
  constructor(holder, { label, columns, cells, open, sort = null, fold = null, judge = null }) {
    this.holder = holder;
    this.columns = columns;
    this.cells = cells;
    this.open = open;
    this.fold = fold;
    this.judge = judge;
    this.count = 0;
    this.item = (_index) => undefined;
    this.active = 0;
    this.column = -1; // of the cell that has the focus; -1 is the row
    this.rows = new Map();
    this.heads = columns.map(([name, title, key]) =>
      element("span", { role: "columnheader", class: name, title }, key && sort ? element("button", { type: "button", tabindex: "-1", onclick: () => sort(key) }, title) : title),
    );
    this.space = element("div", { role: "presentation" });
    this.view = element("div", { class: "view", role: "rowgroup" }, this.space);
    this.body = element("div", { role: "grid", "aria-label": label, "aria-colcount": String(columns.length) });
    this.body.append(element("div", { role: "rowgroup" }, element("div", { class: "head", role: "row" }, ...this.heads)), this.view);
    this.none = element("p", { class: "empty", hidden: true }, "Nothing to show.");
    holder.replaceChildren(this.body, this.none);
    this.view.addEventListener("scroll", () => this.draw(), { passive: true });
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.view.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.draw(true)).observe(this.view);
  }

  // Show `count` items; `item(index)` gives one, or undefined while it is on its way.
  show(count, item, { grouped = false, order = "" } = {}) {
    this.count = count;
    this.item = item;
    this.active = 0;
    this.column = -1;
    this.body.setAttribute("role", grouped ? "treegrid" : "grid");
    this.body.setAttribute("aria-rowcount", String(count + 1));
    this.columns.forEach(([, , key], at) => {
      const direction = key && order === key ? "ascending" : key && order === `-${key}` ? "descending" : null;
      if (direction) this.heads[at].setAttribute("aria-sort", direction);
      else this.heads[at].removeAttribute("aria-sort");
    });
    this.view.scrollTop = 0;
    this.draw(true);
  }

  draw(anew = false) {
    const height = parseFloat(getComputedStyle(this.holder).getPropertyValue("--row"));
    if (anew) {
      const focused = this.view.contains(document.activeElement);
      for (const row of this.rows.values()) row.remove();
      this.rows.clear();
      this.height = height;
      // Browsers draw up to some 16 million pixels: of more rows the scroll bar moves several at once.
      this.scale = Math.max((this.count * height) / 12e6, 1);
      this.space.style.height = `${(this.count * height - 1) / this.scale}px`; // without the line below the last row
      this.view.style.maxHeight = `${Math.max(this.count, LEAST) * height - 1}px`;
      this.body.hidden = !this.count;
      this.none.hidden = Boolean(this.count);
      this.again = focused;
    }
    const room = this.view.clientHeight;
    const top = this.view.scrollTop;
    const first = Math.max(Math.floor((top * this.scale) / height) - BEYOND, 0);
    const last = Math.min(Math.ceil((top * this.scale + room) / height) + BEYOND, this.count);
    for (const [index, row] of this.rows) {
      const held = index === this.active && row.contains(document.activeElement);
      if ((index < first || index >= last) && !held) {
        row.remove();
        this.rows.delete(index);
      }
    }
    const shift = this.scale > 1 ? top - top * this.scale : 0;
    for (let index = first; index < last; index += 1) {
      let row = this.rows.get(index);
      const item = this.item(index);
      if (!row || (row.waits && item !== undefined)) {
        this.again ||= Boolean(row?.contains(document.activeElement));
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
    if (this.again) this.focus();
    this.again = false;
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
    row.waits = item === undefined;
    return row;
  }

  key(event) {
    if (!this.count || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(Math.floor(this.view.clientHeight / this.height) - 1, 1);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const item = this.item(this.active);
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

  // Give an item the focus, and see that it can be seen.
  move(index) {
    this.stand(index);
    this.focus();
  }

  // Let an item be the active one, and see that it can be seen.
  stand(index) {
    this.touched = true;
    this.active = Math.min(Math.max(index, 0), this.count - 1);
    const [room, place, top] = [this.view.clientHeight, this.active * this.height, this.view.scrollTop * this.scale];
    if (place < top) this.view.scrollTop = place / this.scale;
    else if (place + this.height > top + room) this.view.scrollTop = (place + this.height - room) / this.scale;
    this.draw();
  }

  focus() {
    const row = this.rows.get(this.active);
    const place = this.column < 0 ? row : row?.children[this.column];
    (place || row)?.focus({ preventScroll: true });
  }

  click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    this.touched = true;
    this.active = Number(row.dataset.index);
    this.column = -1;
    this.draw();
    row.focus({ preventScroll: true });
    const item = this.item(this.active);
    if (item !== undefined) this.choose(item);
  }
}
