// Finds and marks the words and characters in which two texts differ.

const MAX_COMPARED_PARTS = 600; // words or characters between the equal beginning and end; comparing them takes a table of this size squared

const NUMBER = /^-?\d[\d.eE+-]*$/;
const WORDS = /[\p{L}\p{N}]+|\s+|[\s\S]/gu;

// Return the parts of both texts in order, each as ["same" | "gt" | "pred", text]. Parts are words; two words that replace
// each other and share half of their characters are split into characters. Two numbers are never split.
const textDifferences = (gt, pred) => {
  if (NUMBER.test(gt) && NUMBER.test(pred)) return [["gt", gt], ["pred", pred]];
  const wordDifferences = aligned(gt.match(WORDS) || [], pred.match(WORDS) || []);
  const differences = [];
  for (let index = 0; index < wordDifferences.length; index += 1) {
    const [kind, text] = wordDifferences[index];
    const [nextKind, nextText] = wordDifferences[index + 1] || [];
    if (kind === "gt" && nextKind === "pred") {
      const characterDifferences = aligned(Array.from(text), Array.from(nextText));
      const sharedLength = characterDifferences.reduce((sum, [partKind, part]) => sum + (partKind === "same" ? part.length : 0), 0);
      differences.push(...(2 * sharedLength >= Math.max(text.length, nextText.length) ? characterDifferences : [wordDifferences[index], wordDifferences[index + 1]]));
      index += 1;
    } else differences.push(wordDifferences[index]);
  }
  return mergeNeighbours(differences);
};

// Align two lists of words or characters. Where they differ, parts of the ground truth come before parts of the prediction.
const aligned = (gtParts, predParts) => {
  let equalAtStart = 0;
  while (equalAtStart < gtParts.length && equalAtStart < predParts.length && gtParts[equalAtStart] === predParts[equalAtStart]) equalAtStart += 1;
  let equalAtEnd = 0;
  while (equalAtEnd < gtParts.length - equalAtStart && equalAtEnd < predParts.length - equalAtStart && gtParts[gtParts.length - 1 - equalAtEnd] === predParts[predParts.length - 1 - equalAtEnd]) equalAtEnd += 1;
  const middle = commonSubsequence(gtParts.slice(equalAtStart, gtParts.length - equalAtEnd), predParts.slice(equalAtStart, predParts.length - equalAtEnd));
  const tail = gtParts.slice(gtParts.length - equalAtEnd).join("");
  return mergeNeighbours([["same", gtParts.slice(0, equalAtStart).join("")], ...middle, ["same", tail]]);
};

// Align two lists by their longest common subsequence. Lists that are too long count as wholly different.
const commonSubsequence = (gtParts, predParts) => {
  if (!gtParts.length || !predParts.length || gtParts.length > MAX_COMPARED_PARTS || predParts.length > MAX_COMPARED_PARTS) {
    return [["gt", gtParts.join("")], ["pred", predParts.join("")]];
  }
  const width = predParts.length + 1;
  const lengths = new Uint16Array((gtParts.length + 1) * width);
  for (let i = gtParts.length - 1; i >= 0; i -= 1) {
    for (let j = predParts.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        gtParts[i] === predParts[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const differences = [];
  let i = 0;
  let j = 0;
  while (i < gtParts.length || j < predParts.length) {
    if (i < gtParts.length && j < predParts.length && gtParts[i] === predParts[j]) {
      differences.push(["same", gtParts[i]]);
      i += 1;
      j += 1;
    } else if (j >= predParts.length || (i < gtParts.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      differences.push(["gt", gtParts[i]]);
      i += 1;
    } else {
      differences.push(["pred", predParts[j]]);
      j += 1;
    }
  }
  return differences;
};

// Join neighbouring parts of the same kind and drop empty ones.
const mergeNeighbours = (differences) => {
  const merged = [];
  for (const [kind, text] of differences) {
    if (!text) continue;
    const last = merged[merged.length - 1];
    if (last && last[0] === kind) last[1] += text;
    else merged.push([kind, text]);
  }
  return merged;
};

const LEAD = 24; // characters shown before the first difference, as context

// Cut both texts to the same range around their first difference, as `cut_around_difference` of the Python code does.
const cutAroundDifference = (gt, pred, length) => {
  if (Math.max(gt.length, pred.length) <= length) return [gt, pred];
  let first = 0;
  while (first < Math.min(gt.length, pred.length) && gt[first] === pred[first]) first += 1;
  const start = Math.max(first - Math.min(LEAD, Math.floor(length / 2)), 0);
  return [gt, pred].map((text) => `${start ? "…" : ""}${text.slice(start, start + length)}${text.length > start + length ? "…" : ""}`);
};

// CSS class of text that only one side has: the ground truth is what was expected, the prediction is what is wrong.
const MARKS = { gt: "expected", pred: "wrong" };

// Return the parts of one side, with <mark> around those that the other side lacks.
const markSide = (side, differences) =>
  differences.filter(([kind]) => kind === "same" || kind === side).map(([kind, text]) => (kind === "same" ? visible(text) : element("mark", { class: MARKS[side] }, visible(text))));

// Return [ground truth, prediction] of two short texts, each with its differences marked.
const markBothSides = (gt, pred) => {
  const differences = textDifferences(gt, pred);
  return [markSide("gt", differences), markSide("pred", differences)];
};

// Return one side of a pair of values, with <mark> around the text that the other side lacks.
const markOneSide = (side, gt, pred) => {
  const value = side === "gt" ? gt : pred;
  if (value === null) return [element("span", { class: "absent" }, "absent")];
  const cutNote = isCut(value) ? [element("span", { class: "absent" }, ` … cut: ${value[1].toLocaleString("en")} characters`)] : [];
  if (gt === null || pred === null) return [visible(textOf(value)), ...cutNote];
  return [...markSide(side, textDifferences(textOf(gt), textOf(pred))), ...cutNote];
};
