// The table of fields: a tree in the order of the schema, or flat where it is sorted or searched.

const Fields = (() => {
  const table = byId("fields-table");
  const bodies = Array.from(table.tBodies).filter((body) => body.dataset.field !== undefined);
  const folded = new Set();
  const byPath = new Map(bodies.map((body) => [body.dataset.path, body]));
  const RISING = ["path", "precision", "recall", "f1", "score"]; // first click: the lowest first
  let inOrder = bodies;
  let shown = { find: "", wrong: "", sort: "", open: [] };

  // A browser takes long to lay out hundreds of rows: there are more of them as one scrolls.
  const STEP = bodies.find((body) => body.classList.contains("far"))?.dataset.field ?? Infinity;
  let room = Number(STEP);
  const foot = table.createTFoot();
  foot.append(element("tr", {}, element("td", { colspan: "12" }, element("button", { type: "button", onclick: () => grow() }))));

  const number = (body, column) => Number(body.dataset[column]);
  const compare = (column) => (column === "path" ? (a, b) => (a.dataset.path < b.dataset.path ? -1 : a.dataset.path > b.dataset.path ? 1 : 0) : (a, b) => number(a, column) - number(b, column));

  const sort = (order) => {
    const [column, sign] = order.startsWith("-") ? [order.slice(1), -1] : [order, 1];
    const sorted = [...bodies];
    if (order) sorted.sort((a, b) => sign * compare(column)(a, b) || number(a, "field") - number(b, "field"));
    inOrder = sorted;
    foot.before(...sorted);
    for (const head of elementsOf("[data-sort]", table.tHead)) {
      if (head.dataset.sort === column) head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
      head.querySelector("i")?.remove();
      if (head.hasAttribute("aria-sort")) head.querySelector("button").append(element("i", { "aria-hidden": "true" }, sign > 0 ? " ▲" : " ▼"));
    }
    byId("fields-order").hidden = !order;
  };

  const filter = () => {
    const find = shown.find.trim().toLowerCase();
    const wrong = Boolean(shown.wrong);
    const flat = Boolean(shown.sort || find || wrong);
    let count = 0;
    let seen = 0;
    let hiddenUntil = -1;
    for (const body of inOrder) {
      const index = number(body, "field");
      const fits = body.dataset.path.toLowerCase().includes(find) && (!wrong || number(body, "errors") > 0);
      const inside = !flat && index < hiddenUntil;
      if (!flat && !inside && folded.has(index)) hiddenUntil = number(body, "end");
      body.hidden = !fits || inside;
      count += fits ? 1 : 0;
      seen += body.hidden ? 0 : 1;
      body.classList.toggle("far", seen > room);
    }
    foot.hidden = seen <= room;
    if (!foot.hidden) foot.querySelector("button").textContent = `${plural(seen - room, "more field")}`;
    table.classList.toggle("flat", flat);
    byId("fields-count").textContent = count === bodies.length ? plural(count, "field") : `${count.toLocaleString("en")} of ${plural(bodies.length, "field")}`;
  };

  const grow = (all = false) => {
    room = all ? Infinity : room + Number(STEP);
    filter();
  };

  const fold = (body, shut) => {
    const index = number(body, "field");
    if (shut) folded.add(index);
    else folded.delete(index);
    body.querySelector(".fold").setAttribute("aria-expanded", String(!shut));
    filter();
  };

  const open = (body, opened) => {
    if (opened === body.classList.contains("opened")) return;
    const folded = body.querySelector(".more noscript");
    if (opened && folded) unfold(folded);
    body.classList.toggle("opened", opened);
    body.querySelector(".open")?.setAttribute("aria-expanded", String(opened));
  };

  // A field that is newly opened is shown, with what is around it.
  const reveal = (body) => {
    if (body.hidden) {
      folded.clear();
      for (const each of bodies) each.querySelector(".fold")?.setAttribute("aria-expanded", "true");
      filter();
    }
    if (body.classList.contains("far")) grow(true);
    body.scrollIntoView({ block: "nearest" });
  };

  const apply = ({ fields }) => {
    const before = shown;
    shown = fields;
    byId("fields-find").value = fields.find;
    byId("fields-wrong").checked = Boolean(fields.wrong);
    if (fields.sort !== before.sort) sort(fields.sort);
    filter();
    const everything = fields.open.includes("*");
    for (const body of bodies) open(body, everything || fields.open.includes(body.dataset.path));
    byId("fields-open").textContent = everything ? "Close all" : "Open all";
    const added = byPath.get(fields.open.find((path) => !before.open.includes(path)));
    if (added) reveal(added);
  };

  for (const head of elementsOf("[data-sort]", table.tHead)) {
    const title = head.querySelector("span");
    const button = element("button", { type: "button", title: title.title || null }, title.textContent);
    title.replaceWith(button);
    button.addEventListener("click", () => {
      const column = head.dataset.sort;
      const first = RISING.includes(column) ? column : `-${column}`;
      const other = first === column ? `-${column}` : column;
      State.change("fields", { sort: shown.sort === first ? other : first });
    });
  }
  for (const body of bodies) {
    const link = body.querySelector(".open");
    if (!link) continue; // of several runs nothing opens
    link.setAttribute("aria-expanded", "false");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const { path } = body.dataset;
      const others = shown.open.includes("*") ? bodies.map((each) => each.dataset.path) : shown.open;
      State.change("fields", { open: others.includes(path) ? others.filter((each) => each !== path) : [...others, path] });
    });
    body.querySelector(".fold").addEventListener("click", () => fold(body, !folded.has(number(body, "field"))));
  }
  byId("fields-find").addEventListener("input", (event) => State.change("fields", { find: targetOf(event).value }));
  byId("fields-wrong").addEventListener("change", (event) => State.change("fields", { wrong: targetOf(event).checked ? "yes" : "" }));
  byId("fields-order").addEventListener("click", () => State.change("fields", { sort: "" }));
  byId("fields-open").addEventListener("click", () => State.change("fields", { open: shown.open.includes("*") ? [] : ["*"] }));
  byId("fields-tools").addEventListener("submit", (event) => event.preventDefault());
  new IntersectionObserver(([entry]) => entry.isIntersecting && !foot.hidden && grow()).observe(foot);
  filter();
  State.follow(apply);

  // The rows of a field and of what is in it, [first, end]; undefined of a path without a row.
  const range = (path) => byPath.has(path) && [number(byPath.get(path), "field"), number(byPath.get(path), "end")];
  const pathOf = (index) => bodies[index]?.dataset.path ?? "";
  return { range, pathOf, paths: [...byPath.keys()] };
})();
