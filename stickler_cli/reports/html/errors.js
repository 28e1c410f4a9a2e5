// The list of errors, and the panel that shows one of them.

const Errors = (() => {
  const form = byId("errors-tools");
  const controls = Object.fromEntries(["find", "field", "class", "sort", "group"].map((key) => [key, byId(`errors-${key}`)]));
  const boxes = Array.from(form.querySelectorAll("[name=outcome]"));
  let all = [];
  let complete = true;
  let list = null;
  let kept = []; // errors that are let through, in order
  let groups = null; // [{ key, title, first, count }], their errors one after the other
  let shut = new Set();
  let lines = []; // what the list shows: groups, and positions in `kept`
  let applied = "";

  const cells = (at) => {
    const error = kept[at];
    const value = (side, name) => element("span", { class: `value ${name}${error[side] === null ? " absent" : ""}` }, shown(error[side]));
    return [
      element("span", { class: "outcome" }, outcomeMark(outcomeOf(error)), Verdicts.of(error) ? element("span", { class: "judged", title: "you gave a verdict" }, " ✓") : null),
      element("span", { class: "document" }, visible(error[DOCUMENT])),
      element("span", { class: "path" }, visible(error[PATH])),
      value(GT, "gt"),
      value(PRED, "pred"),
      element("span", { class: "similarity right" }, error[SIMILARITY] === null ? "" : error[SIMILARITY].toFixed(3)),
      ...(controls.class ? [element("span", { class: "error-class" }, classText(error[CLASS]))] : []),
    ];
  };

  const draw = () => {
    lines = [];
    if (!groups) lines = kept.map((_, at) => at);
    for (const group of groups || []) {
      const folded = shut.has(group.group);
      lines.push({ ...group, folded, note: counted(group.count, group.filter && truth({ ...State.now.errors, ...group.filter })) });
      if (!folded) for (let at = group.first; at < group.first + group.count; at += 1) lines.push(at);
    }
    list.show(lines.length, (index) => lines[index], { grouped: Boolean(groups), order: State.now.errors.sort });
  };

  const fold = (group) => {
    const at = list.active;
    if (!shut.delete(group)) shut.add(group);
    draw();
    list.move(at);
  };

  const apply = (state) => {
    const wanted = JSON.stringify(state.errors);
    if (wanted === applied) return;
    applied = wanted;
    const { errors } = state;
    for (const [key, control] of Object.entries(controls)) {
      if (!control || control.value === errors[key]) continue;
      if (control.tagName === "SELECT" && errors[key] && ![...control.options].some((each) => each.value === errors[key])) {
        control.append(element("option", { value: errors[key] }, visible(errors[key])));
      }
      control.value = errors[key];
    }
    for (const box of boxes) box.checked = !errors.outcome.length || errors.outcome.includes(box.value);
    byId("errors-chosen").replaceChildren(...chips(errors));
    shut = new Set();
    const found = sorted(all.filter(filterOf(errors)), errors.sort);
    [kept, groups] = grouped(found, errors.group);
    draw();
    const known = complete ? all.length : truth(errors);
    byId("errors-count").textContent = `${counted(kept.length, known)}${complete || known === kept.length ? "" : " on this page"}`;
  };

  // Filters that have no control of their own, each with a button that takes it away.
  const chips = (errors) =>
    narrowed(errors).map(({ key, text }) => element("button", { type: "button", class: "chip", onclick: () => State.change("errors", { [key]: "" }) }, `${text} ✕`));

  const read = () => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    const values = Object.fromEntries(Object.entries(controls).filter(([, control]) => control).map(([key, control]) => [key, control.value]));
    State.change("errors", { ...values, outcome: chosen.length === boxes.length ? [] : chosen.length ? chosen : ["none"] });
  };

  const show = async (place) => {
    const at = kept.findIndex((error) => isAt(error, place));
    const error = at < 0 ? all.find((each) => isAt(each, place)) : kept[at];
    if (!error) {
      Panel.show([element("span", { class: "path" }, visible(place.path))], [element("p", { class: "note" }, `There is no error at this place of document ${visible(place.document)} on this page.`)], { place: "" });
      return;
    }
    const step = (by) => at >= 0 && kept[at + by] && (() => State.show(placeOf(kept[at + by])));
    Panel.show(
      [element("span", { class: "path" }, visible(error[PATH]))],
      errorParts(error, ofDocument(error[DOCUMENT])),
      { before: step(-1), after: step(1), place: at < 0 ? "" : `${at + 1} of ${kept.length}` },
    );
  };

  const start = async () => {
    [all, [facts]] = await Promise.all([load("non-matches"), load("facts")]);
    complete = all.length === facts.total;
    Verdicts.start();
    byId("errors-badge").textContent = facts.total.toLocaleString("en");
    const columns = [["outcome", "Outcome", "outcome"], ["document", "Document", "document"], ["path", "Field", "field"], ["gt", "Ground truth", "gt"], ["pred", "Prediction", "pred"], ["similarity right", "Similarity", "similarity"]];
    if (controls.class) columns.push(["error-class", "Class", "class"]);
    byId("errors-list").classList.toggle("unclassed", !controls.class);
    const sort = (key) => State.change("errors", { sort: State.now.errors.sort === key ? `-${key}` : key });
    list = new List(byId("errors-list"), { label: "Errors", columns, cells, sort, fold, open: (at) => State.show(placeOf(kept[at])) });
    let waiting = 0;
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(read, 60);
    });
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      State.change("errors", LISTS.errors);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    State.follow(apply);
  };

  const ofDocument = (id) => all.filter((error) => error[DOCUMENT] === id);

  return { start, show, ofDocument, redraw: () => list.draw(true) };
})();
