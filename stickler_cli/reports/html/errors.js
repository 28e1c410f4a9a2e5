// The list of errors, grouped by cause, and the panel that shows one of them.

const MOST_OPEN = 40; // rows that all of the groups of causes may be open with
const MOST_SHOWN = 4; // fields of an item that its row shows
const ONE_LINE = 44; // characters of both values that stand beside each other; of longer ones the truth stands above
const LINE = 200; // characters of a value in a line of its own

const Errors = (() => {
  const form = byId("errors-tools");
  const controls = Object.fromEntries(["find", "field", "class", "what", "sort", "group"].map((key) => [key, byId(`errors-${key}`)]));
  const boxes = elementsOf("[name=outcome]", form);
  let complete = true;
  let list = null;
  let kept = null; // errors that are let through
  let shut = new Set(); // positions of groups
  let lines = []; // what the list shows: -1 - position of a group, or position in `kept`
  let applied = "";
  let done = Promise.resolve();

  // What an error changed: of items only the fields that differ, of one side what it has.
  const change = (error) => {
    const both = [entriesOf(error[GT]), entriesOf(error[PRED])];
    const names = both[0] && both[1] ? differingIn(error, both) : [];
    // Of an item that only one side has, its values are enough.
    const sides = names.length ? [] : [error[GT], error[PRED]].map((side, index) => (both[index] ? Array.from(both[index].values(), shown).join(" · ") : side));
    const changes = names.length ? names.slice(0, MOST_SHOWN).map((name) => [name, both[0].get(name) ?? null, both[1].get(name) ?? null]) : [["", ...sides]];
    const more = names.length > MOST_SHOWN ? [element("span", { class: "note" }, ` and ${names.length - MOST_SHOWN} more`)] : [];
    const length = changes.reduce((sum, [name, gt, pred]) => sum + name.length + shown(gt).length + shown(pred).length, 0);
    return length <= ONE_LINE && changes.length < 2 ? [...changes.map(inOneLine), ...more] : [inTwoLines(changes, more)];
  };

  const named = (name) => (name ? [element("b", {}, visible(name)), " "] : []);
  const inOneLine = ([name, gt, pred]) => {
    const [expected, found] = gt === null || pred === null ? [[shown(gt)], [shown(pred)]] : markedPair(textOf(gt), textOf(pred));
    return element("span", { class: "field-change" }, ...named(name), element("span", { class: "gt" }, ...expected), " → ", element("span", { class: "pred" }, ...found));
  };

  // The truth above what was found, each cut around its first difference, with what differs marked.
  const inTwoLines = (changes, more) => {
    const lines = [[], []];
    for (const [name, gt, pred] of changes) {
      const isAbsent = gt === null || pred === null;
      const texts = isAbsent ? [gt, pred].map((value) => [value === null ? element("span", { class: "absent" }, "absent") : shown(value)]) : markedPair(...cutAround(textOf(gt), textOf(pred), LINE));
      for (const side of [0, 1]) lines[side].push(element("span", { class: "field-change" }, ...named(name), ...texts[side]));
    }
    return element("span", { class: "two-lines" }, element("span", { class: "gt" }, ...lines[0], ...more), element("span", { class: "pred" }, ...lines[1]));
  };

  const cells = (at) => {
    const error = kept.at(at);
    if (facts.runs) {
      return [
        element("span", {}, moveMark(error[OUTCOME])),
        element("span", { class: "path" }, visible(error[PATH])),
        ...[error[GT], ...error[DIFFERING]].map((value) => element("span", { class: "value" }, saidBy(value))),
        element("span", { class: "document" }, visible(error[DOCUMENT])),
      ];
    }
    return [
      element("span", { class: "outcome" }, outcomeMark(error[OUTCOME]), Verdicts.of(error) ? element("span", { class: "judged", title: "you gave a verdict" }, " ✓") : null),
      element("span", { class: "path" }, visible(error[PATH])),
      element("span", { class: "change value" }, ...change(error)),
      element("span", { class: "document" }, visible(error[DOCUMENT])),
    ];
  };

  const group = (at) => {
    const [key, count, gt, pred, lost] = kept.groups[at];
    const [text, filter, number, values] = GROUPS[groupOf(State.now.errors)](key, gt, pred);
    const rows = counted(count, filter && truth({ ...State.now.errors, ...filter }), "row");
    const title = number ? [element("span", { class: "note" }, String(number)), ` ${text}`] : [text];
    return { group: at, title, folded: shut.has(at), note: facts.runs ? valuesInRows(lost, count) : number && values !== count ? `${plural(values, "value")} · ${rows}` : rows };
  };

  const draw = () => {
    lines = [];
    const isGrouped = kept.groups.length > 0;
    let first = 0;
    for (const [at, [, count]] of (isGrouped ? kept.groups : [[null, kept.count]]).entries()) {
      if (isGrouped) lines.push(-1 - at);
      if (!isGrouped || !shut.has(at)) for (let index = first; index < first + count; index += 1) lines.push(index);
      first += count;
    }
    const item = (index) => {
      const line = lines[index];
      if (line < 0) return group(-1 - line);
      return line !== undefined && kept.at(line) ? line : undefined;
    };
    list.show(lines.length, item, { grouped: isGrouped, order: State.now.errors.sort });
  };

  const fold = (at) => {
    const active = list.active;
    if (!shut.delete(at)) shut.add(at);
    draw();
    list.move(active);
  };

  const apply = ({ errors, problems }) => {
    const wanted = JSON.stringify([errors, problems.errors]);
    if (wanted === applied) return;
    applied = wanted;
    for (const [key, control] of Object.entries(controls)) {
      if (!control || control.value === errors[key]) continue;
      if (control.tagName === "SELECT" && errors[key] && ![...control.options].some((each) => each.value === errors[key])) {
        control.append(element("option", { value: errors[key] }, visible(errors[key])));
      }
      control.value = errors[key];
    }
    for (const box of boxes) box.checked = !errors.outcome.length || errors.outcome.includes(box.value);
    byId("errors-chosen").replaceChildren(...chips("errors", NARROWING, errors, problems.errors));
    done = Pages.of("", queryOf(errors), () => kept && list.draw()).then((found) => applied === wanted && take(found, errors)).catch(fail);
  };

  const take = (found, errors) => {
    kept = found;
    // Of many rows only the first cause is open: the others are read as a list first.
    shut = new Set(groupOf(errors) === "cause" && kept.count > MOST_OPEN ? kept.groups.keys() : []);
    shut.delete(0);
    draw();
    if (errors.field && !kept.count && !Fields.range(errors.field)) {
      byId("errors-chosen").append(element("span", { class: "note" }, `no field is called ${visible(errors.field)}${nearest(errors.field, Fields.paths)}`));
    }
    byId("errors-count").textContent = headOf(errors);
    for (const follow of taken) follow(kept, errors);
  };
  const taken = []; // who wants to know of what the list shows

  // How much the list shows, at its head: where each value is in one row, as values.
  const headOf = (errors) => {
    const known = truth(errors);
    const isAll = complete || known === kept.count;
    if (facts.runs || (isAll && (isFolded(errors) || errors.what === "values"))) return valuesInRows(kept.values, kept.count);
    return `${counted(kept.count, known)}${isAll ? "" : " on this page"}`;
  };

  const read = () => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    const values = Object.fromEntries(Object.entries(controls).filter(([, control]) => control).map(([key, control]) => [key, control.value]));
    State.change("errors", { ...values, outcome: chosen.length === boxes.length ? [] : chosen.length ? chosen : ["none"] });
  };

  const show = async (place) => {
    await done;
    const { at, error } = await kept.find(place);
    if (!error) {
      Panel.show("errors", [visible(place.document), " ", element("span", { class: "path" }, visible(place.path))], [element("p", { class: "note" }, `There is no error at this place of document ${visible(place.document)} on this page.`)], { place: "" });
      return;
    }
    // Beside a value that has no row of its own, the item that it is counted with is marked.
    const marked = at < 0 && error[INSIDE] !== null ? (await kept.find({ document: error[DOCUMENT], path: error[INSIDE] })).at : at;
    if (marked >= 0) follow(marked);
    const step = (by) => at >= 0 && at + by >= 0 && at + by < kept.count && (async () => State.show(placeOf(await kept.get(at + by))));
    Panel.show(
      "errors",
      [visible(error[DOCUMENT]), " ", element("span", { class: "path" }, visible(error[PATH]))],
      errorParts(error, await ask("of", error[DOCUMENT]), await Sources.parts(error[DOCUMENT], error[PATH])),
      { before: step(-1), after: step(1), place: at < 0 ? "" : `${(at + 1).toLocaleString("en")} of ${kept.count.toLocaleString("en")}` },
    );
  };

  // Let the list stand at the error that the panel shows, in a group that is open.
  const follow = (at) => {
    let end = 0;
    const group = kept.groups.findIndex(([, count]) => {
      end += count;
      return end > at;
    });
    if (shut.delete(group)) draw();
    list.stand(lines.indexOf(at));
  };

  const judge = async (at, key) => {
    const error = kept.at(at);
    if (error) Verdicts.say(error, VERDICTS[Number(key) - 1][0]);
    list.draw(true);
  };

  const start = async () => {
    const packed = Object.fromEntries(["non-matches", "documents", "comparisons"].map((name) => [name, handedOver(name)]));
    const [held, [known]] = await Promise.all([SERVED ? null : ask("take", packed), load("facts")]);
    facts = known;
    complete = SERVED || held.errors === facts.total;
    facts.complete = complete;
    Verdicts.start();
    byId("errors-badge").textContent = (facts.values ?? facts.total).toLocaleString("en");
    const columns = [["outcome", "Outcome", "outcome"], ["path", "Field", "field"], ["change", "Truth → found", "gt"], ["document", "Document", "document"]];
    if (facts.runs) columns.splice(2, 1, ["value", "Truth", "gt"], ...facts.runs.map((name) => ["value", name, ""]));
    const sort = (key) => State.change("errors", { sort: State.now.errors.sort === key ? `-${key}` : key });
    list = new List(byId("errors-list"), { label: facts.runs ? "Values" : "Errors", columns, cells, sort, fold, judge: facts.runs ? null : judge, open: (at) => State.show(placeOf(kept.at(at))) });
    // What is typed waits for more of it; a control that is done with, or left, is read at once.
    let waiting = 0;
    const typed = () => {
      if (waiting) read();
      clearTimeout(waiting);
      waiting = 0;
    };
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(typed, 60);
    });
    form.addEventListener("change", typed);
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      State.change("errors", LISTS.errors);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    State.follow(apply);
  };

  return { start, show, change, taken, redraw: () => list.draw(true), focus: () => list.focus(), settled: () => done };
})();
