// The list of errors, grouped by cause, and the panel that shows one of them.

const MAX_OPEN_ROWS = 40; // rows up to which all groups of causes start unfolded
const MAX_SHOWN_FIELDS = 4; // fields of an item that its row shows
const MAX_LENGTH_IN_ONE_LINE = 44; // characters up to which both values share one line; longer ones are shown one above the other
const MAX_LENGTH_IN_ONE_LINE_OF_PHONES = 28;
const MAX_LENGTH_OF_LINE = 200; // characters up to which a value in a line of its own is not cut

const Errors = (() => {
  const form = byId("errors-tools");
  const controls = Object.fromEntries(["find", "field", "class", "what", "sort", "group"].map((key) => [key, byId(`errors-${key}`)]));
  const boxes = elementsOf("[name=outcome]", form);
  let isComplete = true;
  let list = null;
  let selection = null; // the selected errors
  let shownState = null; // the state that selected them; the page has a newer one while the next selection is awaited
  let foldedGroups = new Set(); // positions of the folded groups
  let lines = []; // rows of the list: the position of an error in `selection`, or -1 minus the position of a group
  let appliedState = "";
  let loading = Promise.resolve();

  // Show how the two sides of an error differ: of items only the differing fields.
  const changeElements = (error) => {
    const entries = [entriesOf(error[GT]), entriesOf(error[PRED])];
    const names = entries[0] && entries[1] ? differingIn(error, entries) : [];
    // An item without a counterpart is shown by its values alone.
    const sides = names.length ? [] : [error[GT], error[PRED]].map((side, index) => (entries[index] ? readableText(side) : side));
    const changes = names.length ? names.slice(0, MAX_SHOWN_FIELDS).map((name) => [name, entries[0].get(name) ?? null, entries[1].get(name) ?? null]) : [["", ...sides]];
    const more = names.length > MAX_SHOWN_FIELDS ? [element("span", { class: "note" }, ` and ${names.length - MAX_SHOWN_FIELDS} more`)] : [];
    const length = changes.reduce((sum, [name, gt, pred]) => sum + name.length + displayText(gt).length + displayText(pred).length, 0);
    return length <= (phones.matches ? MAX_LENGTH_IN_ONE_LINE_OF_PHONES : MAX_LENGTH_IN_ONE_LINE) && changes.length < 2 ? [...changes.map(inOneLine), ...more] : [inTwoLines(changes, more)];
  };

  const nameElements = (name) => (name ? [element("b", {}, visible(name)), " "] : []);
  const inOneLine = ([name, gt, pred]) => {
    const [expected, found] = gt === null || pred === null ? [[displayText(gt)], [displayText(pred)]] : markBothSides(textOf(gt), textOf(pred));
    return element("span", { class: "field-change" }, ...nameElements(name), element("span", { class: "gt" }, ...expected), " → ", element("span", { class: "pred" }, ...found));
  };

  // Show the ground truth above the prediction, both cut around their first difference and with the differences marked.
  const inTwoLines = (changes, more) => {
    const lines = [[], []];
    for (const [name, gt, pred] of changes) {
      const isAbsent = gt === null || pred === null;
      const texts = isAbsent ? [gt, pred].map((value) => [value === null ? element("span", { class: "absent" }, "absent") : displayText(value)]) : markBothSides(...cutAroundDifference(textOf(gt), textOf(pred), MAX_LENGTH_OF_LINE));
      for (const side of [0, 1]) lines[side].push(element("span", { class: "field-change" }, ...nameElements(name), ...texts[side]));
    }
    const isOneSided = changes.length === 1 && !changes[0][0] && changes[0].includes(null);
    return element("span", { class: isOneSided ? "two-lines one-sided" : "two-lines" }, element("span", { class: "gt" }, ...lines[0], ...more), element("span", { class: "pred" }, ...lines[1]));
  };

  const cells = (position) => {
    const error = selection.at(position);
    if (facts.runs) {
      return [
        element("span", {}, moveMark(error[OUTCOME])),
        element("span", { class: "path" }, visible(error[PATH])),
        ...[error[GT], ...error[DIFFERING]].map((value, at) => element("span", { class: "value", "data-label": at ? facts.runs[at - 1] : "truth" }, answerElement(value))),
        element("span", { class: "document" }, visible(error[DOCUMENT])),
      ];
    }
    return [
      element("span", { class: "outcome" }, outcomeMark(error[OUTCOME]), Verdicts.of(error) ? element("span", { class: "judged", title: "you gave a verdict" }, " ✓") : null),
      element("span", { class: "path" }, visible(error[PATH])),
      element("span", { class: "change value" }, ...changeElements(error)),
      element("span", { class: "document" }, visible(error[DOCUMENT])),
    ];
  };

  // Count the rows of a group and the values that they lost: what stands below its head, whatever the filters are.
  const groupNote = (count, lost, filter) => {
    const groupState = { ...shownState, ...filter };
    const runCount = isComplete || !filter || isFolded(groupState) !== isFolded(shownState) ? null : countInRun(groupState);
    const rows = countText(count, runCount, "row");
    if (!countsEachValueOnce(shownState)) return rows;
    return runCount === null || runCount === count ? valuesInRows(lost, count) : `${plural(lost, "value")} in ${rows}`;
  };

  // Return whether every lost value is counted in exactly one row of the list.
  const countsEachValueOnce = (state) => Boolean(facts.runs) || isFolded(state) || state.what === "values";

  const groupRow = (groupIndex) => {
    const [key, count, gt, pred, lost] = selection.groups[groupIndex];
    const [text, filter, number] = GROUPS[groupOf(shownState)](key, gt, pred);
    const title = number ? [element("span", { class: "note" }, String(number)), ` ${text}`] : [text];
    return { group: groupIndex, title, folded: foldedGroups.has(groupIndex), note: groupNote(count, lost, filter) };
  };

  const draw = () => {
    lines = [];
    const isGrouped = selection.groups.length > 0;
    let first = 0;
    for (const [groupIndex, [, count]] of (isGrouped ? selection.groups : [[null, selection.count]]).entries()) {
      if (isGrouped) lines.push(-1 - groupIndex);
      if (!isGrouped || !foldedGroups.has(groupIndex)) for (let index = first; index < first + count; index += 1) lines.push(index);
      first += count;
    }
    const item = (index) => {
      const line = lines[index];
      if (line < 0) return groupRow(-1 - line);
      return line !== undefined && selection.at(line) ? line : undefined;
    };
    list.show(lines.length, item, { grouped: isGrouped, order: shownState.sort });
  };

  const fold = (groupIndex) => {
    const active = list.active;
    if (!foldedGroups.delete(groupIndex)) foldedGroups.add(groupIndex);
    draw();
    list.move(active);
  };

  const apply = ({ errors, problems }) => {
    const newState = JSON.stringify([errors, problems.errors]);
    if (newState === appliedState) return;
    appliedState = newState;
    for (const [key, control] of Object.entries(controls)) {
      if (!control || control.value === errors[key]) continue;
      if (control.tagName === "SELECT" && errors[key] && ![...control.options].some((option) => option.value === errors[key])) {
        control.append(element("option", { value: errors[key] }, visible(errors[key])));
      }
      control.value = errors[key];
    }
    for (const box of boxes) box.checked = !errors.outcome.length || errors.outcome.includes(box.value);
    byId("errors-chosen").replaceChildren(...chips("errors", NARROWING, errors, problems.errors));
    loading = Pages.of("", queryOf(errors), () => selection && list.draw()).then((pages) => appliedState === newState && showSelection(pages, errors)).catch(fail);
  };

  const showSelection = (pages, errors) => {
    selection = pages;
    shownState = errors;
    // With many rows only the first cause starts unfolded, so that the reader sees the list of causes first.
    foldedGroups = new Set(groupOf(errors) === "cause" && selection.count > MAX_OPEN_ROWS ? selection.groups.keys() : []);
    foldedGroups.delete(0);
    draw();
    if (errors.field && !selection.count && !Fields.range(errors.field)) {
      byId("errors-chosen").append(element("span", { class: "note" }, `no field is called ${visible(errors.field)}${nearestHint(errors.field, Fields.paths)}`));
    }
    byId("errors-count").textContent = headText(errors);
    for (const follower of followers) follower(selection, errors);
  };
  const followers = []; // functions that are called with the new selection and the state of the list

  // Return the count above the list: of values if every lost value is counted in exactly one row, of errors otherwise.
  const headText = (errors) => {
    const runCount = countInRun(errors);
    const isAll = isComplete || runCount === selection.count;
    if (facts.runs || (isAll && countsEachValueOnce(errors))) return valuesInRows(selection.values, selection.count);
    return `${countText(selection.count, runCount)}${isAll ? "" : " on this page"}`;
  };

  const readControls = () => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    const values = Object.fromEntries(Object.entries(controls).filter(([, control]) => control).map(([key, control]) => [key, control.value]));
    State.change("errors", { ...values, outcome: chosen.length === boxes.length ? [] : chosen.length ? chosen : ["none"] });
  };

  const show = async (place) => {
    await loading;
    const { at: position, error } = await selection.find(place);
    if (!error) {
      Panel.show("errors", [visible(place.document), " ", element("span", { class: "path" }, visible(place.path))], [element("p", { class: "note" }, `There is no error at this place of document ${visible(place.document)} on this page.`)], { place: "" });
      return;
    }
    // A value inside an item that failed as a whole may have no row; then the row of that item becomes the active one.
    const activePosition = position < 0 && error[INSIDE] !== null ? (await selection.find({ document: error[DOCUMENT], path: error[INSIDE] })).at : position;
    if (activePosition >= 0) activateError(activePosition);
    const step = (distance) => position >= 0 && position + distance >= 0 && position + distance < selection.count && (async () => State.showInPanel(placeOfError(await selection.get(position + distance))));
    Panel.show(
      "errors",
      [visible(error[DOCUMENT]), " ", element("span", { class: "path" }, visible(error[PATH]))],
      errorParts(error, await ask("of", error[DOCUMENT]), await Sources.linkAndFigures(error[DOCUMENT], error[PATH])),
      { before: step(-1), after: step(1), place: position < 0 ? "" : `${(position + 1).toLocaleString("en")} of ${selection.count.toLocaleString("en")}` },
    );
  };

  // Make the error that the panel shows the active row, and unfold its group.
  const activateError = (position) => {
    let end = 0;
    const groupIndex = selection.groups.findIndex(([, count]) => {
      end += count;
      return end > position;
    });
    if (foldedGroups.delete(groupIndex)) draw();
    list.activate(lines.indexOf(position));
  };

  const judge = async (position, key) => {
    const error = selection.at(position);
    if (error) Verdicts.toggle(error, VERDICTS[Number(key) - 1][0]);
    list.draw(true);
  };

  const start = async () => {
    const packed = Object.fromEntries(["non-matches", "documents", "comparisons"].map((name) => [name, takePacked(name)]));
    const [counts, [loadedFacts]] = await Promise.all([SERVED ? null : ask("take", packed), load("facts")]);
    facts = loadedFacts;
    isComplete = SERVED || counts.errors === facts.total;
    facts.complete = isComplete;
    Verdicts.start();
    byId("errors-badge").textContent = (facts.values ?? facts.total).toLocaleString("en");
    const columns = [["outcome", "Outcome", "outcome"], ["path", "Field", "field"], ["change", "Truth → found", "gt"], ["document", "Document", "document"]];
    if (facts.runs) columns.splice(2, 1, ["value", "Truth", "gt"], ...facts.runs.map((name) => ["value", name, ""]));
    const sort = (key) => State.change("errors", { sort: State.now.errors.sort === key ? `-${key}` : key });
    list = new List(byId("errors-list"), { label: facts.runs ? "Values" : "Errors", columns, cells, sort, fold, judge: facts.runs ? null : judge, open: (position) => State.showInPanel(placeOfError(selection.at(position))) });
    // Typing is read after a short pause; a changed control is read at once.
    let waiting = 0;
    const readTyped = () => {
      if (waiting) readControls();
      clearTimeout(waiting);
      waiting = 0;
    };
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(readTyped, 60);
    });
    form.addEventListener("change", readTyped);
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      State.change("errors", LISTS.errors);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    State.subscribe(apply);
  };

  return { start, show, changeElements, followers, redraw: () => list.draw(true), focus: () => list.focus(), settled: () => loading };
})();
