// Drawings of the errors that are here: where values were lost, and what became of numbers.

const PLACES = [0, 1, 2, 3, 4, 5, 10, 20, 50]; // the first place of each bar, as score/item_places.py has them
const MOST_CROPS = 8; // of a cause, one for each document
const MAX_SEARCHED = 100; // errors of a cause among which documents are looked for
const MOST_ASKED = 10000; // wrong values that a served page is asked for
const MOST_DOTS = 2000;

const Pictures = (() => {
  const put = (id, ...parts) => {
    byId(id).hidden = false;
    byId(id).append(...parts);
  };

  // The like of the macro `steps`: a bar for each name.
  const steps = (counts, label) => {
    const most = Math.max(...counts.map(([, count]) => count));
    const bars = counts.map(([name, count]) => element("span", {}, element("b", { title: count.toLocaleString("en") }, inShort(count)), element("i", { style: `--share:${count / most}` }), element("em", {}, name)));
    return element("div", { class: "steps", role: "img", "aria-label": `${label}: ${counts.map((each) => each.join(": ")).join(", ")}` }, ...bars);
  };

  // Without the values of the run there are no shares, only numbers of what was lost.
  const byIndex = (indexes, some) => {
    if (indexes.length < 2 || !byId("by-index")) return;
    const bins = PLACES.map((start, bin) => [start, PLACES[bin + 1] ?? Infinity]).filter(([start]) => start < indexes.length);
    const nameOf = (start, end) => (end === Infinity ? `${start}+` : end - start === 1 ? `${start}` : `${start}-${end - 1}`);
    const counts = bins.map(([start, end]) => [nameOf(start, end), indexes.slice(start, end).reduce((sum, count) => sum + count, 0)]);
    put("by-index", steps(counts, "Values lost by index"), element("p", { class: "note" }, `${some}Numbers, not shares: only the page that the run itself writes knows how many values each place has. 0 is the first item.`));
  };

  // True numbers to the right, found ones up, both by powers of ten: on the lines a number is right, or ten times what it
  // should be, or a tenth; hollow is a sign that changed.
  const scatter = (points, count, some) => {
    if (points.length < 3) return;
    const logs = points.flatMap(([gt, pred]) => [Math.log10(Math.abs(gt)), Math.log10(Math.abs(pred))]);
    const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 0.01)];
    const SIDE = 360;
    const at = (value) => (SIDE * (Math.log10(Math.abs(value)) - low)) / (high - low);
    const unit = SIDE / (high - low);
    const every = Math.ceil((high - low) / 6);
    const powers = Array.from({ length: high - low + 1 }, (_, step) => low + step).filter((power) => (power - low) % every === 0);
    const name = (power) => (power >= -3 && power <= 5 ? (10 ** power).toLocaleString("en") : `1e${power}`);
    const marks = powers.flatMap((power) => [
      drawn("text", { x: (power - low) * unit, y: SIDE + 16, "text-anchor": "middle" }, name(power)),
      drawn("text", { x: -6, y: SIDE - (power - low) * unit + 4, "text-anchor": "end" }, name(power)),
    ]);
    const line = (shift, style) => drawn("line", { x1: Math.max(-shift, 0) * unit, y1: SIDE - Math.max(shift, 0) * unit, x2: SIDE - Math.max(shift, 0) * unit, y2: Math.max(-shift, 0) * unit, class: style });
    const circles = points.map(([gt, pred, row, id, path]) => {
      const told = drawn("title", {}, `${visible(path)} of ${visible(id)}: ${gt} → ${pred}`);
      const circle = drawn("circle", { cx: at(gt), cy: SIDE - at(pred), r: 4, class: Math.sign(gt) === Math.sign(pred) ? "" : "hollow" }, told);
      circle.addEventListener("click", () => State.show({ document: id, path }));
      return circle;
    });
    const lines = high - low > 1 ? [line(1, "even"), line(-1, "even")] : [];
    const label = `${plural(count, "wrong number")}, found against true, on logarithmic axes`;
    put(
      "scatter",
      drawn("svg", { class: "trust wide", viewBox: "-64 -8 440 420", role: "img", "aria-label": label }, drawn("rect", { class: "frame", x: 0, y: 0, width: SIDE, height: SIDE }), line(0, "right-line"), ...lines, ...circles, ...marks, drawn("text", { x: SIDE / 2, y: SIDE + 38, "text-anchor": "middle" }, "true"), drawn("text", { transform: `translate(-52 ${SIDE / 2}) rotate(-90)`, "text-anchor": "middle" }, "found")),
      element("p", { class: "note" }, `${some}${counted(points.length, count, "wrong number")}. Dotted lines are ten times too much and a tenth; hollow ones have another sign.`),
    );
  };

  // Values that documents lost in the first run to the right, in the last one up: above the line it got worse.
  const apart = (documents) => {
    const known = documents.filter((row) => row[COUNTS][0] !== null && row[COUNTS].at(-1) !== null);
    if (!known.length) return;
    const SIDE = 360;
    const most = Math.max(1, ...known.flatMap((row) => [row[COUNTS][0], row[COUNTS].at(-1)]));
    const at = (count) => (SIDE * Math.sqrt(count)) / Math.sqrt(most); // so that few are told apart beside many
    const circles = known.map((row) => {
      const [before, after] = [row[COUNTS][0], row[COUNTS].at(-1)];
      const circle = drawn("circle", { cx: at(before), cy: SIDE - at(after), r: 5, class: after > before ? "worse" : after < before ? "better" : "" }, drawn("title", {}, `${visible(row[ID])}: ${before} → ${after}`));
      circle.addEventListener("click", () => State.show({ document: row[ID] }));
      return circle;
    });
    const text = (x, y, anchor, told) => drawn("text", { x, y, "text-anchor": anchor }, told);
    const ends = [text(0, SIDE + 16, "middle", "0"), text(SIDE, SIDE + 16, "middle", most.toLocaleString("en")), text(-6, SIDE + 4, "end", "0"), text(-6, 4, "end", most.toLocaleString("en")), text(SIDE / 2, SIDE + 36, "middle", facts.runs[0]), drawn("text", { transform: `translate(-24 ${SIDE / 2}) rotate(-90)`, "text-anchor": "middle" }, facts.runs.at(-1))];
    put("apart", drawn("svg", { class: "trust wide", viewBox: "-64 -8 440 412", role: "img", "aria-label": `Values lost by ${plural(known.length, "document")} in ${facts.runs[0]} and ${facts.runs.at(-1)}` }, drawn("rect", { class: "frame", x: 0, y: 0, width: SIDE, height: SIDE }), drawn("line", { class: "right-line", x1: 0, y1: SIDE, x2: SIDE, y2: 0 }), ...circles, ...ends), element("p", { class: "note" }, `${plural(known.length, "document")}; axes go by the square root. Above the line more is lost in ${facts.runs.at(-1)}.`));
  };

  const byPage = async () => {
    if (!byId("data-sources")) return;
    const wrong = await Sources.wrong();
    if (!wrong.length) return;
    const pages = new Map();
    for (const [sheet] of wrong) pages.set(sheet, (pages.get(sheet) ?? 0) + 1);
    if (pages.size > 1) put("by-page", steps([...pages].sort(([a], [b]) => a - b).map(([sheet, count]) => [String(sheet), count]), "Values lost by page"));
    const boxes = wrong.map(([, x, y, width, height]) => drawn("rect", { x: 100 * x, y: 140 * y, width: 100 * width, height: 140 * height }));
    put("on-page", drawn("svg", { class: "sheet", viewBox: "-1 -1 102 142", role: "img", "aria-label": `Boxes of ${plural(wrong.length, "wrong value")} on their pages` }, drawn("rect", { class: "frame", x: 0, y: 0, width: 100, height: 140 }), ...boxes), element("p", { class: "note" }, "The pages of all documents on top of each other."));
  };

  // Crops of the first errors of a cause, above the list of them.
  const strip = async (kept, errors) => {
    const holder = byId("errors-strip");
    holder.replaceChildren();
    if (!errors.cause || !byId("data-sources")) return;
    const first = await Promise.all(Array.from({ length: Math.min(kept.count, MAX_SEARCHED) }, (_, index) => kept.get(index)));
    const documents = new Set();
    const rows = first.filter((error) => documents.size < MOST_CROPS && !documents.has(error[DOCUMENT]) && documents.add(error[DOCUMENT]));
    const made = await Promise.all(rows.map(async (error) => (await Sources.crops(error)).map((figure) => element("div", {}, figure, element("a", { href: State.link(placeOf(error)) }, visible(error[DOCUMENT]))))));
    holder.replaceChildren(...made.flat());
  };

  const start = async () => {
    if (!facts.runs) Errors.taken.push((kept, errors) => strip(kept, errors).catch(fail));
    if (!facts.runs) await byPage();
    if (facts.runs) return apart(await ask("page-documents", {}, 0, MOST_DOTS));
    const [rows, count] = SERVED ? await firstOf("", { values: 1 }, MOST_ASKED) : [[], 0];
    const { indexes, points, numbers } = SERVED ? await here("pictures", [rows]) : await ask("pictures");
    const some = rows.length < count ? `Of the first ${plural(rows.length, "wrong value")}. ` : facts.complete ? "" : "Of the errors on this page. ";
    byIndex(indexes, some);
    scatter(points, numbers, some);
  };

  return { start };
})();
