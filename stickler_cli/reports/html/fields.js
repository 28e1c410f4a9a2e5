// The table of fields: a tree in the order of the schema, or a flat table while it is sorted or searched.

const Fields = (() => {
  const table = byId("fields-table");
  const bodies = Array.from(table.tBodies).filter((body) => body.dataset.field !== undefined);
  const foldedFields = new Set();
  const byPath = new Map(bodies.map((body) => [body.dataset.path, body]));
  const ASCENDING_FIRST = ["path", "precision", "recall", "f1", "score"]; // columns that the first click sorts in ascending order
  let sortedBodies = bodies;
  let applied = { find: "", wrong: "", sort: "", open: [] };

  // Laying out hundreds of rows takes a browser long, so scrolling down shows more of them step by step.
  const ROWS_PER_STEP = bodies.find((body) => body.classList.contains("far"))?.dataset.field ?? Infinity;
  let rowLimit = Number(ROWS_PER_STEP);
  const footer = table.createTFoot();
  footer.append(element("tr", {}, element("td", { colspan: "12" }, element("button", { type: "button", onclick: () => showMoreRows() }))));

  const numberOf = (body, column) => Number(body.dataset[column]);
  const compare = (column) => (column === "path" ? (a, b) => (a.dataset.path < b.dataset.path ? -1 : a.dataset.path > b.dataset.path ? 1 : 0) : (a, b) => numberOf(a, column) - numberOf(b, column));

  const sort = (order) => {
    const [column, sign] = order.startsWith("-") ? [order.slice(1), -1] : [order, 1];
    const sorted = [...bodies];
    if (order) sorted.sort((a, b) => sign * compare(column)(a, b) || numberOf(a, "field") - numberOf(b, "field"));
    sortedBodies = sorted;
    footer.before(...sorted);
    for (const head of elementsOf("[data-sort]", table.tHead)) {
      if (head.dataset.sort === column) head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
      head.querySelector("i")?.remove();
      if (head.hasAttribute("aria-sort")) head.querySelector("button").append(element("i", { "aria-hidden": "true" }, sign > 0 ? " ▲" : " ▼"));
    }
    byId("fields-order").hidden = !order;
  };

  const filter = () => {
    const find = applied.find.trim().toLowerCase();
    const onlyWrong = Boolean(applied.wrong);
    const flat = Boolean(applied.sort || find || onlyWrong);
    let count = 0;
    let visibleCount = 0;
    let hiddenUntil = -1;
    for (const body of sortedBodies) {
      const index = numberOf(body, "field");
      const matches = body.dataset.path.toLowerCase().includes(find) && (!onlyWrong || numberOf(body, "errors") > 0);
      const isFoldedAway = !flat && index < hiddenUntil;
      if (!flat && !isFoldedAway && foldedFields.has(index)) hiddenUntil = numberOf(body, "end");
      body.hidden = !matches || isFoldedAway;
      count += matches ? 1 : 0;
      visibleCount += body.hidden ? 0 : 1;
      body.classList.toggle("far", visibleCount > rowLimit);
    }
    footer.hidden = visibleCount <= rowLimit;
    if (!footer.hidden) footer.querySelector("button").textContent = `${plural(visibleCount - rowLimit, "more field")}`;
    table.classList.toggle("flat", flat);
    byId("fields-count").textContent = count === bodies.length ? plural(count, "field") : `${count.toLocaleString("en")} of ${plural(bodies.length, "field")}`;
  };

  const showMoreRows = (all = false) => {
    rowLimit = all ? Infinity : rowLimit + Number(ROWS_PER_STEP);
    filter();
  };

  const fold = (body, folds) => {
    const index = numberOf(body, "field");
    if (folds) foldedFields.add(index);
    else foldedFields.delete(index);
    body.querySelector(".fold").setAttribute("aria-expanded", String(!folds));
    filter();
  };

  const open = (body, opened) => {
    if (opened === body.classList.contains("opened")) return;
    const noscript = body.querySelector(".more noscript");
    if (opened && noscript) unfold(noscript);
    body.classList.toggle("opened", opened);
    body.querySelector(".open")?.setAttribute("aria-expanded", String(opened));
  };

  // Unfold all fields if a newly opened one is hidden, and scroll to it.
  const reveal = (body) => {
    if (body.hidden) {
      foldedFields.clear();
      for (const other of bodies) other.querySelector(".fold")?.setAttribute("aria-expanded", "true");
      filter();
    }
    if (body.classList.contains("far")) showMoreRows(true);
    body.scrollIntoView({ block: "nearest" });
  };

  const apply = ({ fields }) => {
    const previous = applied;
    applied = fields;
    byId("fields-find").value = fields.find;
    byId("fields-wrong").checked = Boolean(fields.wrong);
    if (fields.sort !== previous.sort) sort(fields.sort);
    filter();
    const opensAll = fields.open.includes("*");
    for (const body of bodies) open(body, opensAll || fields.open.includes(body.dataset.path));
    byId("fields-open").textContent = opensAll ? "Close all" : "Open all";
    const newlyOpened = byPath.get(fields.open.find((path) => !previous.open.includes(path)));
    if (newlyOpened) reveal(newlyOpened);
  };

  for (const head of elementsOf("[data-sort]", table.tHead)) {
    const title = head.querySelector("span");
    const button = element("button", { type: "button", title: title.title || null }, title.textContent);
    title.replaceWith(button);
    button.addEventListener("click", () => {
      const column = head.dataset.sort;
      const firstOrder = ASCENDING_FIRST.includes(column) ? column : `-${column}`;
      const reverseOrder = firstOrder === column ? `-${column}` : column;
      State.change("fields", { sort: applied.sort === firstOrder ? reverseOrder : firstOrder });
    });
  }
  for (const body of bodies) {
    const link = body.querySelector(".open");
    if (!link) continue; // a page of several runs has no details to open
    link.setAttribute("aria-expanded", "false");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const { path } = body.dataset;
      const openPaths = applied.open.includes("*") ? bodies.map((other) => other.dataset.path) : applied.open;
      State.change("fields", { open: openPaths.includes(path) ? openPaths.filter((openPath) => openPath !== path) : [...openPaths, path] });
    });
    body.querySelector(".fold").addEventListener("click", () => fold(body, !foldedFields.has(numberOf(body, "field"))));
  }
  byId("fields-find").addEventListener("input", (event) => State.change("fields", { find: targetOf(event).value }));
  byId("fields-wrong").addEventListener("change", (event) => State.change("fields", { wrong: targetOf(event).checked ? "yes" : "" }));
  byId("fields-order").addEventListener("click", () => State.change("fields", { sort: "" }));
  byId("fields-open").addEventListener("click", () => State.change("fields", { open: applied.open.includes("*") ? [] : ["*"] }));
  byId("fields-tools").addEventListener("submit", (event) => event.preventDefault());
  new IntersectionObserver(([entry]) => entry.isIntersecting && !footer.hidden && showMoreRows()).observe(footer);
  filter();
  State.subscribe(apply);

  // Return the rows of a field and of the fields inside it as [first, end]; false if no field has this path.
  const range = (path) => byPath.has(path) && [numberOf(byPath.get(path), "field"), numberOf(byPath.get(path), "end")];
  const pathOf = (index) => bodies[index]?.dataset.path ?? "";
  return { range, pathOf, paths: [...byPath.keys()], bodyOf: (path) => byPath.get(path) };
})();
