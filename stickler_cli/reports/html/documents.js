// The list of documents, and the panel that shows one document in full.

const Documents = (() => {
  /** @type {[string, number][]} */
  const OUTCOMES = [["tp", TP], ["fd", FD], ["fn", FN], ["fa", FA]];
  let selection = null; // the selected documents
  let total = 0;
  let list = null;
  let appliedState = "";
  let loading = Promise.resolve();

  const bar = (row) => {
    const values = row[TP] + errorsOf(row);
    let left = 0;
    const parts = OUTCOMES.filter(([, column]) => row[column]).map(([name, column]) => {
      const width = (100 * row[column]) / values;
      const part = element("span", { class: `part ${name}`, style: `left:${left}%;width:${width}%` });
      left += width;
      return part;
    });
    return element("span", { class: "bar", "aria-hidden": "true" }, ...parts);
  };

  const cells = (position) => {
    const row = selection.at(position);
    if (facts.runs) {
      const numbers = row[COUNTS].map((count) => element("span", { class: "right" }, count === null ? "-" : count.toLocaleString("en", { maximumFractionDigits: 2 })));
      const change = facts.scored ? [element("span", { class: "right" }, row[SCORE] === null ? "" : signedRateText(row[SCORE]))] : [];
      return [element("span", {}, visible(row[ID])), ...numbers, ...change];
    }
    return [
      element("span", {}, visible(row[ID])),
      element("span", { class: "status" }, row[STATUS]),
      element("span", { class: "right" }, rateText(row[SCORE])),
      element("span", { class: "bar-cell" }, bar(row)),
      ...OUTCOMES.map(([, column]) => element("span", { class: `right one${row[column] ? "" : " zero"}` }, row[column].toLocaleString("en"))),
    ];
  };

  const apply = ({ documents, problems }) => {
    const newState = JSON.stringify([documents, problems.documents]);
    if (newState === appliedState) return;
    appliedState = newState;
    byId("documents-find").value = documents.find;
    byId("documents-wrong").checked = Boolean(documents.wrong);
    byId("documents-order").value = documents.sort;
    byId("documents-chosen").replaceChildren(...chips("documents", NARROWING_DOCUMENTS, documents, problems.documents));
    loading = Pages.of("-documents", documentsQuery(documents), () => selection && list.draw()).then((pages) => appliedState === newState && showSelection(pages)).catch(fail);
  };

  const showSelection = (pages) => {
    selection = pages;
    list.show(selection.count, (index) => (selection.at(index) ? index : undefined));
    byId("documents-count").textContent = countText(selection.count, total, "document");
  };

  const readControls = () => State.change("documents", { find: byId("documents-find").value, wrong: byId("documents-wrong").checked ? "yes" : "", sort: byId("documents-order").value });

  // Show a compared document as a table of its fields; `differences` keeps only differing values and their parents.
  const tree = (rows, differences) => {
    const cutLineCount = typeof rows[rows.length - 1] === "number" ? rows[rows.length - 1] : 0;
    const lines = cutLineCount ? rows.slice(0, -1) : rows;
    const isWrong = ([, , kind, outcome]) => kind !== "list" && ["FD", "FA", "FN"].includes(outcome);
    const isShown = lines.map(isWrong);
    if (differences) {
      // The parents of a difference show where it is.
      for (let index = lines.length - 1, depth = -1; index >= 0; index -= 1) {
        if (isShown[index]) depth = Math.max(depth, lines[index][0]);
        else if (lines[index][0] < depth) isShown[index] = true;
        if (isShown[index] && lines[index][0] < depth) depth = lines[index][0];
        if (lines[index][0] === 0) depth = -1;
      }
    }
    const body = lines
      .filter((row, index) => !differences || isShown[index])
      .map((row) => {
        const [depth, name, kind, outcome, similarity, threshold, weight, gt, pred] = row;
        const isPaired = outcome === "FD" || outcome === "TP";
        const values = kind !== "value" ? [[], []] : outcome === "FD" ? [markOneSide("gt", gt, pred), markOneSide("pred", gt, pred)] : [gt, pred].map((value) => (value === null ? [element("span", { class: "absent" }, "absent")] : [displayText(value)]));
        return element(
          "tr",
          { class: isWrong(row) ? "wrong-row" : outcome === "TN" ? "right-row" : null, style: `--depth:${depth}` },
          element("th", { scope: "row" }, visible(name)),
          element("td", {}, outcome === "TN" || kind === "list" ? "" : outcomeMark(outcome)),
          element("td", { class: "value", "data-label": "truth" }, ...values[0]),
          element("td", { class: "value", "data-label": "found" }, ...values[1]),
          element("td", { class: "number" }, isPaired && kind !== "list" ? `${rateText(similarity)} ${outcome === "FD" ? "<" : "≥"} ${threshold}` : ""),
          element("td", { class: "number" }, weight === null ? "" : String(weight)),
        );
      });
    return [
      tableOf(["Field", "Outcome", "Ground truth", "Prediction", ["Similarity", "number"], ["Weight", "number"]], body),
      cutLineCount ? element("p", { class: "note" }, `${plural(cutLineCount, "more line")} of this document are not on this page; stickler compare shows all.`) : null,
    ];
  };

  const show = async (id) => {
    await loading;
    const { at: position, row } = await selection.find(id);
    const [errors, lines] = await Promise.all([ask("of", id), SERVED ? undefined : ask("comparison", id)]);
    if (!row && !errors.length && !lines) {
      const names = (await ask("page-documents", {}, 0, MAX_ROWS_PER_QUESTION)).map((document) => document[ID]);
      Panel.show("documents", [visible(id)], [element("p", {}, `No document on this page is called ${visible(id)}${nearestHint(id, names)}.`)], { place: "" });
      return;
    }
    if (position >= 0) list.activate(position);
    const step = (distance) => position >= 0 && position + distance >= 0 && position + distance < selection.count && (async () => State.showInPanel({ document: (await selection.get(position + distance))[ID] }));
    const parts = [];
    if (facts.runs) {
      parts.push(element("p", {}, row ? facts.runs.map((name, run) => `${name}: ${plural(row[COUNTS][run] ?? 0, "wrong value")}`).join(" · ") : ""), errors.length ? runsTable(errors) : element("p", { class: "note" }, "No value differs."), reportLinks({ document: id }));
    } else if (row) parts.push(element("p", {}, `Score ${rateText(row[SCORE])} · ${row[STATUS]} · ${plural(row[TP], "value")} right, ${row[FD]} wrong, ${row[FN]} missed, ${row[FA]} invented`));
    const source = await Sources.linkAndFigures(id);
    parts.push(source.link);
    if (lines && !facts.runs) {
      const holder = element("div", {}, ...tree(lines, errors.length > 0 && lines.length > 30).filter(Boolean));
      const checkbox = element("input", { type: "checkbox", onchange: () => holder.replaceChildren(...tree(lines, checkbox.checked).filter(Boolean)) });
      checkbox.checked = errors.length > 0 && lines.length > 30;
      parts.push(element("p", { class: "tools" }, element("label", {}, checkbox, " only differences")), holder);
    } else if (!facts.runs) {
      parts.push(element("p", { class: "note" }, row && !errorsOf(row) && !errors.length ? "Nothing in it differs." : "This document is not on this page in full; to see it, use stickler compare. Its errors:"));
      parts.push(element("ul", {}, ...errors.map((error) => element("li", {}, outcomeMark(error[OUTCOME]), " ", element("a", { href: State.link(placeOfError(error)), class: "path" }, visible(error[PATH])), " ", ...Errors.changeElements(error)))));
    }
    parts.push(...source.figures);
    Panel.show("documents", [visible(id)], parts, { before: step(-1), after: step(1), place: position < 0 ? "" : `${(position + 1).toLocaleString("en")} of ${selection.count.toLocaleString("en")}` });
  };

  const start = async () => {
    total = Math.max(facts.documents ?? 0, (await ask("select-documents", {})).count);
    byId("documents-badge").textContent = total.toLocaleString("en");
    /** @type {string[][]} */
    const columns = [["", "Document"], ["status", "Status"], ["right", "Score"], ["", "Values"], ...OUTCOMES.map(([name]) => ["right one", MEANINGS[name.toUpperCase()]])];
    if (facts.runs) columns.splice(1, Infinity, ...facts.runs.map((name) => ["right", name]), ...(facts.scored ? [["right", "Change of score"]] : []));
    list = new List(byId("documents-list"), { label: "Documents", columns, cells, open: (position) => State.showInPanel({ document: selection.at(position)[ID] }) });
    byId("documents-tools").addEventListener("input", readControls);
    byId("documents-tools").addEventListener("submit", (event) => event.preventDefault());
    State.subscribe(apply);
    const [worst, losing] = await firstRows("-documents", { lost: 1, sort: "errors" }, Grid.MAX_DOCUMENTS);
    Grid.start(worst, Math.max(facts.lost, losing));
  };

  return { start, show, focus: () => list.focus(), settled: () => loading };
})();
