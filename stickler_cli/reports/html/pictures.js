// Drawings of the errors on this page: where values were lost, and how wrong numbers relate to the true ones.

const BIN_STARTS = [0, 1, 2, 3, 4, 5, 10, 20, 50]; // first item index of each bar, as in score/item_places.py
const MAX_CROPS = 8; // crops shown for a cause, one for each document
const MAX_SEARCHED = 100; // errors of a cause that are searched for documents to show
const MAX_ASKED = 10000; // wrong values that `stickler view` is asked for
const MAX_DOTS = 2000; // documents in the scatter plot of two runs

const Pictures = (() => {
  const showPart = (id, ...parts) => {
    byId(id).hidden = false;
    byId(id).append(...parts);
  };

  // Make a chart with a bar for each [name, count], as the macro `steps` of the templates does.
  const barChart = (counts, label) => {
    const highest = Math.max(...counts.map(([, count]) => count));
    const bars = counts.map(([name, count]) => element("span", {}, element("b", { title: count.toLocaleString("en") }, inShort(count)), element("i", { style: `--share:${count / highest}` }), element("em", {}, name)));
    return element("div", { class: "steps", role: "img", "aria-label": `${label}: ${counts.map((named) => named.join(": ")).join(", ")}` }, ...bars);
  };

  // Show the lost values by the index of their item. The page has no right values, so it cannot show shares.
  const showLossesByIndex = (indexes, scopeNote) => {
    if (indexes.length < 2 || !byId("by-index")) return;
    const bins = BIN_STARTS.map((start, bin) => [start, BIN_STARTS[bin + 1] ?? Infinity]).filter(([start]) => start < indexes.length);
    const nameOf = (start, end) => (end === Infinity ? `${start}+` : end - start === 1 ? `${start}` : `${start}-${end - 1}`);
    const counts = bins.map(([start, end]) => [nameOf(start, end), indexes.slice(start, end).reduce((sum, count) => sum + count, 0)]);
    showPart("by-index", barChart(counts, "Values lost by index"), element("p", { class: "note" }, `${scopeNote}These are counts, not shares: only the page that the run itself writes knows how many values each place has. 0 is the first item.`));
  };

  // Show true numbers (x) against predicted ones (y), both on logarithmic axes. Lines mark right numbers, and numbers ten
  // times too large or too small; a hollow dot has the wrong sign.
  const showNumberScatter = (points, count, scopeNote) => {
    if (points.length < 3) return;
    const logs = points.flatMap(([gt, pred]) => [Math.log10(Math.abs(gt)), Math.log10(Math.abs(pred))]);
    const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 0.01)];
    const SIDE = 360;
    const positionOf = (value) => (SIDE * (Math.log10(Math.abs(value)) - low)) / (high - low);
    const unit = SIDE / (high - low);
    const every = Math.ceil((high - low) / 6);
    const powers = Array.from({ length: high - low + 1 }, (_, step) => low + step).filter((power) => (power - low) % every === 0);
    const powerText = (power) => (power >= 0 && power <= 8 ? inShort(10 ** power) : power >= -3 && power < 0 ? String(10 ** power) : `1e${power}`);
    const marks = powers.flatMap((power) => [
      svgElement("text", { x: (power - low) * unit, y: SIDE + 16, "text-anchor": "middle" }, powerText(power)),
      svgElement("text", { x: -6, y: SIDE - (power - low) * unit + 4, "text-anchor": "end" }, powerText(power)),
    ]);
    const line = (shift, style) => svgElement("line", { x1: Math.max(-shift, 0) * unit, y1: SIDE - Math.max(shift, 0) * unit, x2: SIDE - Math.max(shift, 0) * unit, y2: Math.max(-shift, 0) * unit, class: style });
    const circles = points.map(([gt, pred, row, id, path]) => {
      const title = svgElement("title", {}, `${visible(path)} of ${visible(id)}: ${gt} → ${pred}`);
      const circle = svgElement("circle", { cx: positionOf(gt), cy: SIDE - positionOf(pred), r: 4, class: Math.sign(gt) === Math.sign(pred) ? "" : "hollow" }, title);
      circle.addEventListener("click", () => State.showInPanel({ document: id, path }));
      return circle;
    });
    const lines = high - low > 1 ? [line(1, "even"), line(-1, "even")] : [];
    const label = `${plural(count, "wrong number")}, predicted against true, on logarithmic axes`;
    showPart(
      "scatter",
      svgElement("svg", { class: "trust wide", viewBox: "-72 -8 448 420", role: "img", "aria-label": label }, svgElement("rect", { class: "frame", x: 0, y: 0, width: SIDE, height: SIDE }), line(0, "right-line"), ...lines, ...circles, ...marks, svgElement("text", { x: SIDE / 2, y: SIDE + 38, "text-anchor": "middle" }, "true"), svgElement("text", { transform: `translate(-60 ${SIDE / 2}) rotate(-90)`, "text-anchor": "middle" }, "found")),
      element("p", { class: "note" }, `${scopeNote}${countText(points.length, count, "wrong number")}. Dotted lines mark ten times too much and ten times too little; hollow points have the wrong sign.`),
    );
  };

  // Show the values that each document lost in the first run (x) against the last run (y): dots above the line got worse.
  const showLossScatter = (documents) => {
    const comparedDocuments = documents.filter((row) => row[COUNTS][0] !== null && row[COUNTS].at(-1) !== null);
    if (!comparedDocuments.length) return;
    const SIDE = 360;
    const mostLost = Math.max(1, ...comparedDocuments.flatMap((row) => [row[COUNTS][0], row[COUNTS].at(-1)]));
    const positionOf = (count) => (SIDE * Math.sqrt(count)) / Math.sqrt(mostLost); // square root: small counts stay apart beside large ones
    const circles = comparedDocuments.map((row) => {
      const [before, after] = [row[COUNTS][0], row[COUNTS].at(-1)];
      const circle = svgElement("circle", { cx: positionOf(before), cy: SIDE - positionOf(after), r: 5, class: after > before ? "worse" : after < before ? "better" : "" }, svgElement("title", {}, `${visible(row[ID])}: ${before} → ${after}`));
      circle.addEventListener("click", () => State.showInPanel({ document: row[ID] }));
      return circle;
    });
    const text = (x, y, anchor, content) => svgElement("text", { x, y, "text-anchor": anchor }, content);
    const axisTexts = [text(0, SIDE + 16, "middle", "0"), text(SIDE, SIDE + 16, "middle", mostLost.toLocaleString("en")), text(-6, SIDE + 4, "end", "0"), text(-6, 4, "end", mostLost.toLocaleString("en")), text(SIDE / 2, SIDE + 36, "middle", facts.runs[0]), svgElement("text", { transform: `translate(-24 ${SIDE / 2}) rotate(-90)`, "text-anchor": "middle" }, facts.runs.at(-1))];
    showPart("apart", svgElement("svg", { class: "trust wide", viewBox: "-64 -8 440 412", role: "img", "aria-label": `Wrong values of ${plural(comparedDocuments.length, "document")} in ${facts.runs[0]} and ${facts.runs.at(-1)}` }, svgElement("rect", { class: "frame", x: 0, y: 0, width: SIDE, height: SIDE }), svgElement("line", { class: "right-line", x1: 0, y1: SIDE, x2: SIDE, y2: 0 }), ...circles, ...axisTexts), element("p", { class: "note" }, `${plural(comparedDocuments.length, "document")}; the axes are square roots. Above the line, more is wrong in ${facts.runs.at(-1)}.`));
  };

  const showLossesByPage = async () => {
    if (!byId("data-sources")) return;
    const wrong = await Sources.wrongBoxes();
    if (!wrong.length) return;
    const countsByPage = new Map();
    for (const [pageNumber] of wrong) countsByPage.set(pageNumber, (countsByPage.get(pageNumber) ?? 0) + 1);
    if (countsByPage.size > 1) showPart("by-page", barChart([...countsByPage].sort(([a], [b]) => a - b).map(([pageNumber, count]) => [String(pageNumber), count]), "Values lost by page"));
    const boxes = wrong.map(([, x, y, width, height]) => svgElement("rect", { x: 100 * x, y: 140 * y, width: 100 * width, height: 140 * height }));
    showPart("on-page", svgElement("svg", { class: "sheet", viewBox: "-1 -1 102 142", role: "img", "aria-label": `Boxes of ${plural(wrong.length, "wrong value")} on their pages` }, svgElement("rect", { class: "frame", x: 0, y: 0, width: 100, height: 140 }), ...boxes), element("p", { class: "note" }, "The pages of all documents on top of each other."));
  };

  // Show crops of the first errors of a cause above the list of errors.
  const showCrops = async (selection, errorsState) => {
    const holder = byId("errors-strip");
    holder.replaceChildren();
    if (!errorsState.cause || !byId("data-sources")) return;
    const firstErrors = await Promise.all(Array.from({ length: Math.min(selection.count, MAX_SEARCHED) }, (_, index) => selection.get(index)));
    const documents = new Set();
    const rows = firstErrors.filter((error) => documents.size < MAX_CROPS && !documents.has(error[DOCUMENT]) && documents.add(error[DOCUMENT]));
    const crops = await Promise.all(rows.map(async (error) => (await Sources.firstCrop(error)).map((figure) => element("div", {}, figure, element("a", { href: State.link(placeOfError(error)) }, visible(error[DOCUMENT]))))));
    holder.replaceChildren(...crops.flat());
  };

  const start = async () => {
    if (!facts.runs) Errors.followers.push((selection, errorsState) => showCrops(selection, errorsState).catch(fail));
    if (!facts.runs) await showLossesByPage();
    if (facts.runs) return showLossScatter(await ask("page-documents", {}, 0, MAX_DOTS));
    const [rows, count] = SERVED ? await firstRows("", { values: 1 }, MAX_ASKED) : [[], 0];
    const { indexes, points, numbers } = SERVED ? await answerHere("pictures", [rows]) : await ask("pictures");
    const scopeNote = rows.length < count ? `Of the first ${plural(rows.length, "wrong value")}. ` : facts.complete ? "" : "Of the errors on this page. ";
    showLossesByIndex(indexes, scopeNote);
    showNumberScatter(points, numbers, scopeNote);
  };

  return { start };
})();
