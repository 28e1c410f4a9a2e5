// What a document was read from: a link to it, and its pages with the boxes of values, where they are on this page.

const Sources = (() => {
  const [BOX_PATH, BOX_OUTCOME, SIDE, PAGE, LEFT, TOP, RIGHT, BOTTOM, IN_PIXELS] = Array(9).keys();
  const SIDES = { gt: "ground truth", pred: "prediction" };
  const SVG = "http://www.w3.org/2000/svg";

  const isIn = (box, path) => path === undefined || box[BOX_PATH] === path || (box[BOX_PATH].startsWith(path) && ".[".includes(box[BOX_PATH][path.length]));

  // Which page a box is on, from 1 on; some documents count from 0.
  const sheetOf = (box, boxes) => {
    if (!/^\d+$/.test(box[PAGE] ?? "")) return 1;
    return Number(box[PAGE]) + (boxes.some((each) => each[PAGE] === "0") ? 1 : 0);
  };

  const addressOf = (id, sheet, template, links) => {
    const address = template ? template.replaceAll("{id}", () => id.split("/").map(encodeURIComponent).join("/")) : links?.[id];
    return address?.replaceAll("{page}", String(sheet));
  };

  const linkOf = (id, sheet, template, links) => {
    const href = addressOf(id, sheet, template, links);
    return href ? element("a", { href, target: "_blank", rel: "noopener noreferrer" }, sheet > 1 ? `Open the document at page ${sheet}` : "Open the document") : null;
  };

  const rectangle = (box, chosen, [, , width, height]) => {
    const by = box[IN_PIXELS] ? [width, height] : [1, 1];
    const [x, y] = [box[LEFT] / by[0], box[TOP] / by[1]];
    const [across, down] = [box[RIGHT] / by[0] - x, box[BOTTOM] / by[1] - y];
    const made = document.createElementNS(SVG, "rect");
    const named = document.createElementNS(SVG, "title");
    named.textContent = `${visible(box[BOX_PATH])}, ${SIDES[box[SIDE]]}: ${MEANINGS[box[BOX_OUTCOME]]}`;
    const style = `${box[BOX_OUTCOME] === "TP" ? "right" : "wrong"} ${box[SIDE]}${chosen ? " chosen" : ""}`;
    for (const [key, value] of Object.entries({ x: 100 * x, y: 100 * y, width: 100 * across, height: 100 * down, class: style })) made.setAttribute(key, String(value));
    made.append(named);
    return made;
  };

  const figureOf = (id, picture, boxes, path) => {
    const [sheet, address] = picture;
    const here = boxes.filter((box) => sheetOf(box, boxes) === sheet);
    const drawing = document.createElementNS(SVG, "svg");
    for (const [key, value] of Object.entries({ viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": `Boxes of values: ${here.length}` })) drawing.setAttribute(key, value);
    // Those that the panel is about are drawn last, over all others.
    const ordered = [...here].sort((a, b) => isIn(a, path) - isIn(b, path));
    drawing.append(...ordered.map((box) => rectangle(box, path !== undefined && isIn(box, path), picture)));
    const image = element("img", { src: address, alt: `Page ${sheet} of ${visible(id)}` });
    return element("figure", { class: "source" }, element("figcaption", {}, `Page ${sheet}`), element("div", {}, image, drawing));
  };

  const legend = () =>
    element(
      "p",
      { class: "note boxes-legend" },
      ...["right", "wrong"].map((name) => element("span", {}, element("i", { class: name }), ` ${name}; `)),
      "those of ground truths are dashed",
    );

  // What the panel of a document, or of an error at a path of it, shows of where it came from.
  const parts = async (id, path) => {
    if (!byId("data-sources")) return { link: null, figures: [] };
    const [[template, links, all]] = await load("sources");
    const boxes = all[id] ?? [];
    const wanted = path === undefined ? [] : boxes.filter((box) => isIn(box, path));
    const sheets = new Set(wanted.map((box) => sheetOf(box, boxes)));
    const link = linkOf(id, Math.min(...sheets, ...(sheets.size ? [] : [1])), template, links);
    const pictures = (await load("pictures")).find(([name]) => name === id)?.[1] ?? [];
    const some = path === undefined ? pictures : pictures.filter(([sheet]) => sheets.has(sheet));
    const figures = some.map((picture) => figureOf(id, picture, boxes, path));
    return { link: link && element("p", {}, link), figures: figures.length && boxes.length ? [legend(), ...figures] : figures };
  };

  return { parts };
})();
