// A list of any length: only the rows that can be seen are in the page.

const LEAST = 3; // rows that an empty list has room for
const BEYOND = 6; // rows above and below that are ready

class List {
  // `columns`: class and title of each; `cells(item)` makes a row; `open(item, index)` shows one.
  constructor(holder, { label, columns, cells, open, empty = () => "Nothing to show." }) {
    this.items = [];
    this.cells = cells;
    this.open = open;
    this.empty = empty;
    this.active = 0;
    this.rows = new Map();
    this.head = element("div", { class: "head", role: "row" }, ...columns.map(([name, title]) => element("span", { role: "columnheader", class: name }, title)));
    this.space = element("div", { role: "presentation" });
    this.view = element("div", { class: "view", tabindex: "0", role: "rowgroup", "aria-label": `${label}: arrows move, Enter opens` }, this.space);
    holder.setAttribute("role", "table");
    holder.setAttribute("aria-label", label);
    holder.replaceChildren(element("div", { role: "rowgroup" }, this.head), this.view);
    this.holder = holder;
    this.view.addEventListener("scroll", () => this.draw(), { passive: true });
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.view.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.draw(true)).observe(this.view);
  }

  show(items) {
    this.items = items;
    this.active = 0;
    this.holder.setAttribute("aria-rowcount", String(items.length + 1));
    this.view.scrollTop = 0;
    this.draw(true);
  }

  draw(anew = false) {
    const height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
    const count = this.items.length;
    if (anew) {
      for (const row of this.rows.values()) row.remove();
      this.rows.clear();
      this.height = height;
      // A hundred thousand rows of a phone are 8 million pixels; browsers draw twice that.
      this.space.style.height = `${count * height}px`;
      this.view.style.maxHeight = `${Math.max(count, LEAST) * height + 1}px`;
      this.space.textContent = "";
      if (!count) this.space.append(element("p", { class: "empty" }, this.empty()));
    }
    const visibleHeight = this.view.clientHeight;
    const offset = this.view.scrollTop;
    const first = Math.max(Math.floor(offset / height) - BEYOND, 0);
    const last = Math.min(Math.ceil((offset + visibleHeight) / height) + BEYOND, count);
    for (const [index, row] of this.rows) {
      if (index < first || index >= last) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let index = first; index < last; index += 1) {
      let row = this.rows.get(index);
      if (!row) {
        row = element("div", { class: "row", role: "row", "aria-rowindex": String(index + 2), "data-index": String(index) }, ...this.cells(this.items[index]));
        row.style.transform = `translateY(${index * height}px)`;
        this.rows.set(index, row);
        this.space.append(row);
      }
      row.classList.toggle("active", Boolean(this.touched) && index === this.active);
    }
  }

  key(event) {
    const page = Math.max(Math.floor(this.view.clientHeight / this.height) - 1, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      event.preventDefault();
      this.touched = true;
      this.move(Math.min(Math.max(this.active + steps[event.key], 0), this.items.length - 1));
    } else if (event.key === "Enter" && this.items.length) {
      event.preventDefault();
      this.open(this.items[this.active], this.active);
    }
  }

  move(index) {
    this.active = Math.max(index, 0);
    const height = this.height;
    const room = this.view.clientHeight;
    const top = this.active * height;
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    else if (top + height > this.view.scrollTop + room) this.view.scrollTop = top + height - room;
    this.draw();
    const row = this.rows.get(this.active);
    if (row) this.view.setAttribute("aria-activedescendant", (row.id = `${this.holder.id}-active-${this.active}`));
  }

  click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    this.active = Number(row.dataset.index);
    this.touched = true;
    this.draw();
    this.open(this.items[this.active], this.active);
  }
}
