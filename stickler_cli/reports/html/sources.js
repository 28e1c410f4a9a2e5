// What a document was read from: a link to it, and its pages with the boxes of values, where they are on this page.

const Sources = (() => {
  const [BOX_PATH, BOX_OUTCOME, SIDE, PAGE, LEFT, TOP, RIGHT, BOTTOM, IN_PIXELS] = Array(9).keys();
  const SIDES = { gt: "ground truth", pred: "prediction" };

  const isIn = (box, path) => path === undefined || box[BOX_PATH] === path || (box[BOX_PATH].startsWith(path) && ".[".includes(box[BOX_PATH][path.length]));

  // Which page a box is on, from 1 on; some documents count from 0.
  const sheetOf = (box, boxes) => {
    if (!/^\d+$/.test(box[PAGE] ?? "")) return 1;
    return Number(box[PAGE]) + (boxes.some((each) => each[PAGE] === "0") ? 1 : 0);
  };

  const linkOf = (id, sheet, template, links) => {
    const address = template ? template.replaceAll("{id}", () => id.split("/").map(encodeURIComponent).join("/")) : links?.[id];
    const href = address?.replaceAll("{page}", String(sheet));
    return href ? element("a", { href, target: "_blank", rel: "noopener noreferrer" }, sheet > 1 ? `Open the document at page ${sheet}` : "Open the document") : null;
  };


  // Where a box is, in the units of a picture: x, y, width and height.
  const placeOn = (box, picture) => {
    const [, , width, height] = picture;
    const [across, down] = box[IN_PIXELS] ? [1, 1] : [width, height];
    const [x, y] = [box[LEFT] * across, box[TOP] * down];
    return [x, y, box[RIGHT] * across - x, box[BOTTOM] * down - y];
  };

  const rectangle = (box, chosen, picture) => {
    const [x, y, width, height] = placeOn(box, picture);
    const named = drawn("title", {}, `${visible(box[BOX_PATH])}, ${SIDES[box[SIDE]]}: ${MEANINGS[box[BOX_OUTCOME]]}`);
    return drawn("rect", { x, y, width, height, class: `${box[BOX_OUTCOME] === "TP" ? "right" : "wrong"} ${box[SIDE]}${chosen ? " chosen" : ""}` }, named);
  };

  // The part of a page around some boxes, with room to read what is beside them.
  const around = (places, [, , width, height]) => {
    const span = (low, high, whole, margin, least) => {
      const size = Math.min(Math.max(high - low + 2 * margin * whole, least * whole), whole);
      return [Math.min(Math.max((low + high - size) / 2, 0), whole - size), size];
    };
    const [x, wide] = span(Math.min(...places.map(([left]) => left)), Math.max(...places.map(([left, , across]) => left + across)), width, 0.08, 0.36);
    const [y, high] = span(Math.min(...places.map(([, top]) => top)), Math.max(...places.map(([, top, , down]) => top + down)), height, 0.03, 0.1);
    return `${x} ${y} ${wide} ${high}`;
  };

  // A page, or at first what is around the boxes that the panel is about.
  const figureOf = (id, picture, boxes, path) => {
    const [sheet, address, width, height] = picture;
    const here = boxes.filter((box) => sheetOf(box, boxes) === sheet);
    const chosen = path === undefined ? [] : here.filter((box) => isIn(box, path));
    const whole = `0 0 ${width} ${height}`;
    const crop = chosen.length ? around(chosen.map((box) => placeOn(box, picture)), picture) : whole;
    const image = drawn("image", { href: address, width, height, preserveAspectRatio: "none" });
    // Those that the panel is about are drawn last, over all others.
    const ordered = [...here].sort((a, b) => chosen.includes(a) - chosen.includes(b));
    const drawing = drawn("svg", { viewBox: crop, role: "img", "aria-label": `Page ${sheet} of ${visible(id)}, with ${plural(here.length, "box").replace("boxs", "boxes")} of values` }, image, ...ordered.map((box) => rectangle(box, chosen.includes(box), picture)));
    const zoom = element("button", { type: "button", onclick: () => {
      const near = drawing.getAttribute("viewBox") === crop;
      drawing.setAttribute("viewBox", near ? whole : crop);
      zoom.textContent = near ? "Only this place" : "Whole page";
    } }, "Whole page");
    return element("figure", { class: "source" }, element("figcaption", {}, `Page ${sheet} `, crop === whole ? null : zoom), drawing);
  };

  // Of all wrong values: page and box, in parts of the page; pixels are taken for parts of all that has any box.
  const wrong = async () => {
    const [[, , all]] = await load("sources");
    const pixels = Object.values(all).flat().filter((box) => box[IN_PIXELS]);
    const size = [null, null, Math.max(1, ...pixels.map((box) => box[RIGHT])) * 1.08, Math.max(1, ...pixels.map((box) => box[BOTTOM])) * 1.08];
    const parts = (box) => placeOn(box, size).map((number, at) => number / size[2 + (at % 2)]);
    return Object.values(all).flatMap((boxes) => boxes.filter((box) => box[BOX_OUTCOME] !== "TP").map((box) => [sheetOf(box, boxes), ...parts(box)]));
  };

  // The places of an error alone, small: for a strip of several.
  const crops = async (error) => (byId("data-sources") ? (await parts(error[DOCUMENT], error[PATH])).figures.filter((each) => each.matches("figure")).slice(0, 1) : []);

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
    return { link: link && element("p", {}, link), figures: figures.length && boxes.length ? [...figures, legend()] : figures };
  };

  return { parts, crops, wrong };
})();
