// The table of fields: a tree in the order of the schema, or flat where it is sorted or searched.

const Fields = (() => {
  const table = byId("fields-table");
  const bodies = Array.from(table.tBodies).filter((body) => body.dataset.field !== undefined);
  const folded = new Set();
  let order = null; // [column, ascending]

  const number = (body, column) => Number(body.dataset[column]);
  const compare = (column) => (column === "path" ? (a, b) => (a.dataset.path < b.dataset.path ? -1 : a.dataset.path > b.dataset.path ? 1 : 0) : (a, b) => number(a, column) - number(b, column));

  const sort = (column, ascending) => {
    order = column === null ? null : [column, ascending];
    const sorted = [...bodies];
    if (order) sorted.sort((a, b) => compare(column)(a, b) * (ascending ? 1 : -1) || number(a, "field") - number(b, "field"));
    table.append(...sorted);
    for (const head of table.tHead.querySelectorAll("[data-sort]")) {
      if (order && head.dataset.sort === column) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
      head.querySelector("i")?.remove();
      if (head.hasAttribute("aria-sort")) head.querySelector("button").append(element("i", { "aria-hidden": "true" }, ascending ? " ▲" : " ▼"));
    }
    byId("fields-order").hidden = order === null;
    filter();
  };

  const filter = () => {
    const find = byId("fields-find").value.trim().toLowerCase();
    const wrong = byId("fields-wrong").checked;
    const flat = Boolean(order || find || wrong);
    let count = 0;
    let hiddenUntil = -1;
    for (const body of bodies) {
      const index = number(body, "field");
      const fits = body.dataset.path.toLowerCase().includes(find) && (!wrong || number(body, "errors") > 0);
      const inside = !flat && index < hiddenUntil;
      if (!flat && !inside && folded.has(index)) hiddenUntil = number(body, "end");
      body.hidden = !fits || inside;
      count += fits ? 1 : 0;
    }
    table.classList.toggle("flat", flat);
    byId("fields-count").textContent = count === bodies.length ? plural(count, "field") : `${count} of ${plural(bodies.length, "field")}`;
  };

  const fold = (body, shut) => {
    const index = number(body, "field");
    if (shut) folded.add(index);
    else folded.delete(index);
    body.querySelector(".fold").setAttribute("aria-expanded", String(!shut));
    filter();
  };

  const open = (body, opened) => {
    body.classList.toggle("opened", opened);
    body.querySelector(".open").setAttribute("aria-expanded", String(opened));
  };

  // Show a field by its path, with what is around it.
  const show = (path) => {
    const body = bodies.find((candidate) => candidate.dataset.path === path);
    if (!body) return;
    if (body.hidden) {
      byId("fields-find").value = "";
      byId("fields-wrong").checked = false;
      folded.clear();
      for (const each of bodies) each.querySelector(".fold").setAttribute("aria-expanded", "true");
      filter();
    }
    open(body, true);
    body.scrollIntoView({ block: "nearest" });
  };

  for (const head of table.tHead.querySelectorAll("[data-sort]")) {
    const title = head.querySelector("span");
    const button = element("button", { type: "button", title: title.title || null }, title.textContent);
    title.replaceWith(button);
    button.addEventListener("click", () => {
      const column = head.dataset.sort;
      const first = ["path", "precision", "recall", "f1", "leaves", "score"].includes(column);
      sort(column, order && order[0] === column ? !order[1] : first);
    });
  }
  for (const body of bodies) {
    const link = body.querySelector(".open");
    link.setAttribute("aria-expanded", "false");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const opened = !body.classList.contains("opened");
      open(body, opened);
      history.replaceState(null, "", opened ? link.getAttribute("href") : "#fields");
    });
    body.querySelector(".fold").addEventListener("click", () => fold(body, !folded.has(number(body, "field"))));
  }
  byId("fields-find").addEventListener("input", filter);
  byId("fields-wrong").addEventListener("change", filter);
  byId("fields-order").addEventListener("click", () => sort(null));
  byId("fields-open").addEventListener("click", () => {
    const opening = bodies.some((body) => !body.hidden && !body.classList.contains("opened"));
    for (const body of bodies) if (!body.hidden) open(body, opening);
    byId("fields-open").textContent = opening ? "Close all" : "Open all";
  });
  byId("fields-tools").addEventListener("submit", (event) => event.preventDefault());
  filter();

  const range = new Map(bodies.map((body) => [body.dataset.field, [number(body, "field"), number(body, "end")]]));
  const indexOf = (path) => bodies.find((body) => body.dataset.path === path)?.dataset.field ?? "";
  const pathOf = (index) => bodies[index]?.dataset.path ?? "";
  return { show, range, indexOf, pathOf };
})();
