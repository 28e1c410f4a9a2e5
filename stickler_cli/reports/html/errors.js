// The list of errors, and the panel that shows one of them.

const Errors = (() => {
  const form = byId("errors-tools");
  const controls = Object.fromEntries(["find", "field", "class", "sort", "group"].map((key) => [key, byId(`errors-${key}`)]));
  const boxes = Array.from(form.querySelectorAll("[name=outcome]"));
  let all = [];
  let complete = true;
  let list = null;
  let kept = null; // errors that are let through
  let shut = new Set();
  let lines = []; // what the list shows: groups, and positions in `kept`
  let applied = "";

  const cells = (at) => {
    const error = kept.at(at);
    const value = (side, name) => element("span", { class: `value ${name}${error[side] === null ? " absent" : ""}` }, shown(error[side]));
    return [
      element("span", { class: "outcome" }, outcomeMark(error[OUTCOME]), Verdicts.of(error) ? element("span", { class: "judged", title: "you gave a verdict" }, " ✓") : null),
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
    if (!kept.groups) lines = Array.from({ length: kept.count }, (_, at) => at);
    for (const group of kept.groups || []) {
      const folded = shut.has(group.group);
      lines.push({ ...group, folded, note: counted(group.count, group.filter && truth({ ...State.now.errors, ...group.filter })) });
      if (!folded) for (let at = group.first; at < group.first + group.count; at += 1) lines.push(at);
    }
    const item = (index) => (typeof lines[index] === "number" && !kept.at(lines[index]) ? undefined : lines[index]);
    list.show(lines.length, item, { grouped: Boolean(kept.groups), order: State.now.errors.sort });
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
    if (SERVED) Asked.of(errors, () => list.draw()).then((found) => applied === wanted && take(found, errors)).catch(fail);
    else take(new Held(all, errors), errors);
  };

  const take = (found, errors) => {
    kept = found;
    draw();
    const known = complete ? facts.total : truth(errors);
    byId("errors-count").textContent = `${counted(kept.count, known)}${complete || known === kept.count ? "" : " on this page"}`;
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
    const { at, error } = await (kept ?? (SERVED ? await Asked.of(State.now.errors, () => {}) : new Held(all, State.now.errors))).find(place);
    if (!error) {
      Panel.show([element("span", { class: "path" }, visible(place.path))], [element("p", { class: "note" }, `There is no error at this place of document ${visible(place.document)} on this page.`)], { place: "" });
      return;
    }
    const step = (by) => at >= 0 && at + by >= 0 && at + by < (kept?.count ?? 0) && (async () => State.show(placeOf(await kept.get(at + by))));
    Panel.show(
      [element("span", { class: "path" }, visible(error[PATH]))],
      errorParts(error, await ofDocument(error[DOCUMENT]), await Sources.parts(error[DOCUMENT], error[PATH])),
      { before: step(-1), after: step(1), place: at < 0 || !kept ? "" : `${at + 1} of ${kept.count}` },
    );
  };

  const start = async () => {
    [all, [facts]] = await Promise.all([load("non-matches"), load("facts")]);
    complete = SERVED || all.length === facts.total;
    Verdicts.start();
    byId("errors-badge").textContent = facts.total.toLocaleString("en");
    const columns = [["outcome", "Outcome", "outcome"], ["document", "Document", "document"], ["path", "Field", "field"], ["gt", "Ground truth", "gt"], ["pred", "Prediction", "pred"], ["similarity right", "Similarity", "similarity"]];
    if (controls.class) columns.push(["error-class", "Class", "class"]);
    byId("errors-list").classList.toggle("unclassed", !controls.class);
    const sort = (key) => State.change("errors", { sort: State.now.errors.sort === key ? `-${key}` : key });
    list = new List(byId("errors-list"), { label: "Errors", columns, cells, sort, fold, open: (at) => State.show(placeOf(kept.at(at))) });
    // What is typed waits for more of it; a control that is done with, or left, is read at once.
    let waiting = 0;
    const done = () => {
      if (waiting) read();
      clearTimeout(waiting);
      waiting = 0;
    };
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(done, 60);
    });
    form.addEventListener("change", done);
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      State.change("errors", LISTS.errors);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    State.follow(apply);
  };

  const ofDocument = async (id) => (SERVED ? (await ask("of", id)).map((line) => JSON.parse(line)) : all.filter((error) => error[DOCUMENT] === id));

  return { start, show, ofDocument, redraw: () => list.draw(true) };
})();
