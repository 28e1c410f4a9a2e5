// Which words and characters of two texts differ.

const LONGEST_DIFF = 600; // words or characters of what lies between equal ends; a table of this squared is made

const NUMBER = /^-?\d[\d.eE+-]*$/;
const WORDS = /[\p{L}\p{N}]+|\s+|[\s\S]/gu;

// Return the pieces of both texts in order, ["same" | "gt" | "pred", text]: by words, and where a word has
// become another one that shares half of its characters, by characters.
// Numbers differ as numbers: a digit that they share says nothing.
const pieces = (gt, pred) => {
  if (NUMBER.test(gt) && NUMBER.test(pred)) return [["gt", gt], ["pred", pred]];
  const parts = aligned(gt.match(WORDS) || [], pred.match(WORDS) || []);
  const found = [];
  for (let at = 0; at < parts.length; at += 1) {
    const [kind, text] = parts[at];
    const [next, other] = parts[at + 1] || [];
    if (kind === "gt" && next === "pred") {
      const finer = aligned(Array.from(text), Array.from(other));
      const shared = finer.reduce((sum, [each, part]) => sum + (each === "same" ? part.length : 0), 0);
      found.push(...(2 * shared >= Math.max(text.length, other.length) ? finer : [parts[at], parts[at + 1]]));
      at += 1;
    } else found.push(parts[at]);
  }
  return joined(found);
};

// Return the pieces of two lists of texts, what only the ground truth has before what only the prediction has.
const aligned = (a, b) => {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const tail = a.slice(a.length - end).join("");
  return joined([["same", a.slice(0, start).join("")], ...middle, ["same", tail]]);
};

// Find a longest common subsequence of two short lists.
const between = (a, b) => {
  if (!a.length || !b.length || a.length > LONGEST_DIFF || b.length > LONGEST_DIFF) {
    return [["gt", a.join("")], ["pred", b.join("")]];
  }
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i * width + j] =
        a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const found = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push(["same", a[i]]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && best[(i + 1) * width + j] >= best[i * width + j + 1])) {
      found.push(["gt", a[i]]);
      i += 1;
    } else {
      found.push(["pred", b[j]]);
      j += 1;
    }
  }
  return found;
};

const joined = (parts) => {
  const result = [];
  for (const [kind, text] of parts) {
    if (!text) continue;
    const last = result[result.length - 1];
    if (last && last[0] === kind) last[1] += text;
    else result.push([kind, text]);
  }
  return result;
};

const LEAD = 24; // characters before the first difference, so that a reader knows the place

// Cut two texts around their first difference, at the same place, as `cut_around_difference` of the Python code does.
const cutAround = (gt, pred, length) => {
  if (Math.max(gt.length, pred.length) <= length) return [gt, pred];
  let first = 0;
  while (first < Math.min(gt.length, pred.length) && gt[first] === pred[first]) first += 1;
  const start = Math.max(first - Math.min(LEAD, Math.floor(length / 2)), 0);
  return [gt, pred].map((text) => `${start ? "…" : ""}${text.slice(start, start + length)}${text.length > start + length ? "…" : ""}`);
};

// The class of what only one side has: the truth is what was expected, the prediction is what is wrong.
const MARKS = { gt: "expected", pred: "wrong" };

// The pieces of one side, with those marked that the other side does not have.
const markedSide = (side, differences) =>
  differences.filter(([kind]) => kind === "same" || kind === side).map(([kind, text]) => (kind === "same" ? visible(text) : element("mark", { class: MARKS[side] }, visible(text))));

// Mark what the other of two short texts does not have: truth, found.
const markedPair = (gt, pred) => {
  const differences = pieces(gt, pred);
  return [markedSide("gt", differences), markedSide("pred", differences)];
};

// Give one side of two values, with the characters that the other does not have marked.
const marked = (side, gt, pred) => {
  const mine = side === "gt" ? gt : pred;
  if (mine === null) return [element("span", { class: "absent" }, "absent")];
  const rest = isCut(mine) ? [element("span", { class: "absent" }, ` … cut: ${mine[1].toLocaleString("en")} characters`)] : [];
  if (gt === null || pred === null) return [visible(textOf(mine)), ...rest];
  return [...markedSide(side, pieces(textOf(gt), textOf(pred))), ...rest];
};
