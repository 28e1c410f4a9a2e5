// The source of a document: a link to it, and pictures of its pages with the boxes of values, if this page has them.

const Sources = (() => {
  const [BOX_PATH, BOX_OUTCOME, SIDE, PAGE, LEFT, TOP, RIGHT, BOTTOM, IN_PIXELS] = Array(9).keys();
  const SIDES = { gt: "ground truth", pred: "prediction" };

  // Return whether a box belongs to the value at a path, or to one inside it.
  const isIn = (box, path) => path === undefined || box[BOX_PATH] === path || (box[BOX_PATH].startsWith(path) && ".[".includes(box[BOX_PATH][path.length]));

  // Return the number of the page that a box is on, from 1. Boxes of some documents number pages from 0.
  const pageNumberOf = (box, boxes) => {
    if (!/^\d+$/.test(box[PAGE] ?? "")) return 1;
    return Number(box[PAGE]) + (boxes.some((other) => other[PAGE] === "0") ? 1 : 0);
  };

  const linkOf = (id, pageNumber, template, links) => {
    const address = template ? template.replaceAll("{id}", () => id.split("/").map(encodeURIComponent).join("/")) : links?.[id];
    const href = address?.replaceAll("{page}", String(pageNumber));
    return href ? element("a", { href, target: "_blank", rel: "noopener noreferrer" }, pageNumber > 1 ? `Open the document at page ${pageNumber}` : "Open the document") : null;
  };

  // Return [x, y, width, height] of a box in the units of a picture.
  const rectangleOn = (box, picture) => {
    const [, , width, height] = picture;
    const [across, down] = box[IN_PIXELS] ? [1, 1] : [width, height];
    const [x, y] = [box[LEFT] * across, box[TOP] * down];
    return [x, y, box[RIGHT] * across - x, box[BOTTOM] * down - y];
  };

  const drawBox = (box, isChosen, picture) => {
    const [x, y, width, height] = rectangleOn(box, picture);
    const title = svgElement("title", {}, `${visible(box[BOX_PATH])}, ${SIDES[box[SIDE]]}: ${MEANINGS[box[BOX_OUTCOME]]}`);
    return svgElement("rect", { x, y, width, height, class: `${box[BOX_OUTCOME] === "TP" ? "right" : "wrong"} ${box[SIDE]}${isChosen ? " chosen" : ""}` }, title);
  };

  // Return the view box around some rectangles, with a margin that shows the text beside them.
  const cropAround = (rectangles, [, , width, height]) => {
    const span = (low, high, whole, margin, least) => {
      const size = Math.min(Math.max(high - low + 2 * margin * whole, least * whole), whole);
      return [Math.min(Math.max((low + high - size) / 2, 0), whole - size), size];
    };
    const [x, cropWidth] = span(Math.min(...rectangles.map(([left]) => left)), Math.max(...rectangles.map(([left, , across]) => left + across)), width, 0.08, 0.36);
    const [y, cropHeight] = span(Math.min(...rectangles.map(([, top]) => top)), Math.max(...rectangles.map(([, top, , down]) => top + down)), height, 0.03, 0.1);
    return `${x} ${y} ${cropWidth} ${cropHeight}`;
  };

  // Make the figure of a page with its boxes, at first cropped to the boxes of a path, if there is one.
  const figureOf = (id, picture, boxes, path) => {
    const [pageNumber, address, width, height] = picture;
    const pageBoxes = boxes.filter((box) => pageNumberOf(box, boxes) === pageNumber);
    const chosenBoxes = path === undefined ? [] : pageBoxes.filter((box) => isIn(box, path));
    const whole = `0 0 ${width} ${height}`;
    const crop = chosenBoxes.length ? cropAround(chosenBoxes.map((box) => rectangleOn(box, picture)), picture) : whole;
    const image = svgElement("image", { href: address, width, height, preserveAspectRatio: "none" });
    // Boxes of the path are drawn last, above all others.
    const ordered = [...pageBoxes].sort((a, b) => chosenBoxes.includes(a) - chosenBoxes.includes(b));
    const drawing = svgElement("svg", { viewBox: crop, role: "img", "aria-label": `Page ${pageNumber} of ${visible(id)}, with ${plural(pageBoxes.length, "box").replace("boxs", "boxes")} of values` }, image, ...ordered.map((box) => drawBox(box, chosenBoxes.includes(box), picture)));
    const zoom = element("button", { type: "button", onclick: () => {
      const isCropped = drawing.getAttribute("viewBox") === crop;
      drawing.setAttribute("viewBox", isCropped ? whole : crop);
      zoom.textContent = isCropped ? "Only this place" : "Whole page";
    } }, "Whole page");
    return element("figure", { class: "source" }, element("figcaption", {}, `Page ${pageNumber} `, crop === whole ? null : zoom), drawing);
  };

  // Return [page, x, y, width, height] of the box of each wrong value, in fractions of the page. For boxes in pixels, the
  // size of the page is unknown; it is estimated from the outermost boxes.
  const wrongBoxes = async () => {
    const [[, , boxesById]] = await load("sources");
    const pixels = Object.values(boxesById).flat().filter((box) => box[IN_PIXELS]);
    const size = [null, null, Math.max(1, ...pixels.map((box) => box[RIGHT])) * 1.08, Math.max(1, ...pixels.map((box) => box[BOTTOM])) * 1.08];
    const fractionsOf = (box) => rectangleOn(box, size).map((number, index) => number / size[2 + (index % 2)]);
    return Object.values(boxesById).flatMap((boxes) => boxes.filter((box) => box[BOX_OUTCOME] !== "TP").map((box) => [pageNumberOf(box, boxes), ...fractionsOf(box)]));
  };

  // Return the first figure that shows the boxes of an error, in a list, which is empty if there is none.
  const firstCrop = async (error) => (byId("data-sources") ? (await linkAndFigures(error[DOCUMENT], error[PATH])).figures.filter((figure) => figure.matches("figure")).slice(0, 1) : []);

  const legend = () =>
    element(
      "p",
      { class: "note boxes-legend" },
      ...["right", "wrong"].map((name) => element("span", {}, element("i", { class: name }), ` ${name}; `)),
      "those of ground truths are dashed",
    );

  // Return the link and the figures for the panel of a document, or of the error at a path of the document.
  const linkAndFigures = async (id, path) => {
    if (!byId("data-sources")) return { link: null, figures: [] };
    const [[template, links, boxesById]] = await load("sources");
    const boxes = boxesById[id] ?? [];
    const pathBoxes = path === undefined ? [] : boxes.filter((box) => isIn(box, path));
    const pageNumbers = new Set(pathBoxes.map((box) => pageNumberOf(box, boxes)));
    const link = linkOf(id, Math.min(...pageNumbers, ...(pageNumbers.size ? [] : [1])), template, links);
    const pictures = (await load("pictures")).find(([name]) => name === id)?.[1] ?? [];
    const shownPictures = path === undefined ? pictures : pictures.filter(([pageNumber]) => pageNumbers.has(pageNumber));
    const figures = shownPictures.map((picture) => figureOf(id, picture, boxes, path));
    return { link: link && element("p", {}, link), figures: figures.length && boxes.length ? [...figures, legend()] : figures };
  };

  return { linkAndFigures, firstCrop, wrongBoxes };
})();
