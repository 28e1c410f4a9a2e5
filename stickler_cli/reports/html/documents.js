// The list of documents, and the panel that shows one of them in full.

const Documents = (() => {
  /** @type {[string, number][]} */
  const OUTCOMES = [["tp", TP], ["fd", FD], ["fn", FN], ["fa", FA]];
  let kept = null; // documents that are let through
  let total = 0;
  let list = null;
  let applied = "";
  let done = Promise.resolve();

  const bar = (row) => {
    const values = row[TP] + errorsOf(row);
    let left = 0;
    const parts = OUTCOMES.filter(([, at]) => row[at]).map(([name, at]) => {
      const width = (100 * row[at]) / values;
      const part = element("span", { class: `part ${name}`, style: `left:${left}%;width:${width}%` });
      left += width;
      return part;
    });
    return element("span", { class: "bar", "aria-hidden": "true" }, ...parts);
  };

  const cells = (at) => {
    const row = kept.at(at);
    if (facts.runs) {
      const numbers = row[COUNTS].map((count) => element("span", { class: "right" }, count === null ? "-" : count.toLocaleString("en", { maximumFractionDigits: 2 })));
      const change = facts.scored ? [element("span", { class: "right" }, row[SCORE] === null ? "" : signed(row[SCORE]))] : [];
      return [element("span", {}, visible(row[ID])), ...numbers, ...change];
    }
    return [
      element("span", {}, visible(row[ID])),
      element("span", { class: "status" }, row[STATUS]),
      element("span", { class: "right" }, rate(row[SCORE])),
      element("span", { class: "bar-cell" }, bar(row)),
      ...OUTCOMES.map(([, column]) => element("span", { class: `right one${row[column] ? "" : " zero"}` }, row[column].toLocaleString("en"))),
    ];
  };

  const apply = ({ documents, problems }) => {
    const wanted = JSON.stringify([documents, problems.documents]);
    if (wanted === applied) return;
    applied = wanted;
    byId("documents-find").value = documents.find;
    byId("documents-wrong").checked = Boolean(documents.wrong);
    byId("documents-order").value = documents.sort;
    byId("documents-chosen").replaceChildren(...chips("documents", NARROWING_DOCUMENTS, documents, problems.documents));
    done = Pages.of("-documents", documentsQuery(documents), () => kept && list.draw()).then((found) => applied === wanted && take(found)).catch(fail);
  };

  const take = (found) => {
    kept = found;
    list.show(kept.count, (index) => (kept.at(index) ? index : undefined));
    byId("documents-count").textContent = counted(kept.count, total, "document");
  };

  const read = () => State.change("documents", { find: byId("documents-find").value, wrong: byId("documents-wrong").checked ? "yes" : "", sort: byId("documents-order").value });

  const tree = (rows, differences) => {
    const more = typeof rows[rows.length - 1] === "number" ? rows[rows.length - 1] : 0;
    const lines = more ? rows.slice(0, -1) : rows;
    const isWrong = ([, , kind, outcome]) => kind !== "list" && ["FD", "FA", "FN"].includes(outcome);
    const kept = lines.map(isWrong);
    if (differences) {
      // What is around a difference shows where it is.
      for (let at = lines.length - 1, depth = -1; at >= 0; at -= 1) {
        if (kept[at]) depth = Math.max(depth, lines[at][0]);
        else if (lines[at][0] < depth) kept[at] = true;
        if (kept[at] && lines[at][0] < depth) depth = lines[at][0];
        if (lines[at][0] === 0) depth = -1;
      }
    }
    const body = lines
      .filter((row, at) => !differences || kept[at])
      .map((row) => {
        const [depth, name, kind, outcome, similarity, threshold, weight, gt, pred] = row;
        const both = outcome === "FD" || outcome === "TP";
        const values = kind !== "value" ? [[], []] : outcome === "FD" ? [marked("gt", gt, pred), marked("pred", gt, pred)] : [gt, pred].map((value) => (value === null ? [element("span", { class: "absent" }, "absent")] : [shown(value)]));
        return element(
          "tr",
          { class: isWrong(row) ? "wrong-row" : outcome === "TN" ? "right-row" : null, style: `--depth:${depth}` },
          element("th", { scope: "row" }, visible(name)),
          element("td", {}, outcome === "TN" || kind === "list" ? "" : outcomeMark(outcome)),
          element("td", { class: "value", "data-label": "truth" }, ...values[0]),
          element("td", { class: "value", "data-label": "found" }, ...values[1]),
          element("td", { class: "number" }, both && kind !== "list" ? `${rate(similarity)} ${outcome === "FD" ? "<" : "≥"} ${threshold}` : ""),
          element("td", { class: "number" }, weight === null ? "" : String(weight)),
        );
      });
    return [
      tableOf(["Field", "Outcome", "Ground truth", "Prediction", ["Similarity", "number"], ["Weight", "number"]], body),
      more ? element("p", { class: "note" }, `${plural(more, "more line")} of this document are not on this page; stickler compare shows all.`) : null,
    ];
  };

  const show = async (id) => {
    await done;
    const { at, row } = await kept.find(id);
    const [wrong, rows] = await Promise.all([ask("of", id), SERVED ? undefined : ask("comparison", id)]);
    if (!row && !wrong.length && !rows) {
      const names = (await ask("page-documents", {}, 0, AT_ONCE)).map((each) => each[ID]);
      Panel.show("documents", [visible(id)], [element("p", {}, `No document on this page is called ${visible(id)}${nearest(id, names)}.`)], { place: "" });
      return;
    }
    if (at >= 0) list.stand(at);
    const step = (by) => at >= 0 && at + by >= 0 && at + by < kept.count && (async () => State.show({ document: (await kept.get(at + by))[ID] }));
    const inside = [];
    if (facts.runs) {
      inside.push(element("p", {}, row ? facts.runs.map((name, run) => `${name}: ${plural(row[COUNTS][run] ?? 0, "value")} lost`).join(" · ") : ""), wrong.length ? runsTable(wrong) : element("p", { class: "note" }, "No value differs."), inReports({ document: id }));
    } else if (row) inside.push(element("p", {}, `Score ${rate(row[SCORE])} · ${row[STATUS]} · ${plural(row[TP], "value")} right, ${row[FD]} wrong, ${row[FN]} missed, ${row[FA]} invented`));
    const source = await Sources.parts(id);
    inside.push(source.link);
    if (rows && !facts.runs) {
      const holder = element("div", {}, ...tree(rows, wrong.length > 0 && rows.length > 30).filter(Boolean));
      const box = element("input", { type: "checkbox", onchange: () => holder.replaceChildren(...tree(rows, box.checked).filter(Boolean)) });
      box.checked = wrong.length > 0 && rows.length > 30;
      inside.push(element("p", { class: "tools" }, element("label", {}, box, " only differences")), holder);
    } else if (!facts.runs) {
      inside.push(element("p", { class: "note" }, row && !errorsOf(row) && !wrong.length ? "Nothing in it differs." : "This document is not on this page in full: stickler compare shows it. Its errors:"));
      inside.push(element("ul", {}, ...wrong.map((error) => element("li", {}, outcomeMark(error[OUTCOME]), " ", element("a", { href: State.link(placeOf(error)), class: "path" }, visible(error[PATH])), " ", ...Errors.change(error)))));
    }
    inside.push(...source.figures);
    Panel.show("documents", [visible(id)], inside, { before: step(-1), after: step(1), place: at < 0 ? "" : `${(at + 1).toLocaleString("en")} of ${kept.count.toLocaleString("en")}` });
  };

  const start = async () => {
    total = Math.max(facts.documents ?? 0, (await ask("select-documents", {})).count);
    byId("documents-badge").textContent = total.toLocaleString("en");
    /** @type {string[][]} */
    const columns = [["", "Document"], ["status", "Status"], ["right", "Score"], ["", "Values"], ...OUTCOMES.map(([name]) => ["right one", MEANINGS[name.toUpperCase()]])];
    if (facts.runs) columns.splice(1, Infinity, ...facts.runs.map((name) => ["right", name]), ...(facts.scored ? [["right", "Change of score"]] : []));
    list = new List(byId("documents-list"), { label: "Documents", columns, cells, open: (at) => State.show({ document: kept.at(at)[ID] }) });
    byId("documents-tools").addEventListener("input", read);
    byId("documents-tools").addEventListener("submit", (event) => event.preventDefault());
    State.follow(apply);
    const [worst, losing] = await firstOf("-documents", { lost: 1, sort: "errors" }, Grid.MOST);
    Grid.start(worst, Math.max(facts.lost, losing));
  };

  return { start, show, focus: () => list.focus(), settled: () => done };
})();
