// Elements and texts of the page. Values enter the page as text nodes, never as markup.

/** @returns {any} the element with this id; the caller knows its type */
const byId = (id) => document.getElementById(id);

/** @returns {any[]} the elements that match a selector */
const elementsOf = (selector, parent = document) => Array.from(parent.querySelectorAll(selector));

/** @returns {any} the element that the event was dispatched to */
const targetOf = (event) => event.target;

// Characters that are invisible, move the cursor or change the direction of text.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

// Return the text with its invisible characters written as escapes.
const visible = (text) =>
  text.replace(UNSEEN, (letter) => {
    const hex = letter.codePointAt(0).toString(16);
    return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
  });

// Return "; nearest: NAME" with the name that shares most character pairs with an unknown one, or "" if none is similar.
// An address may come from another page and name things that this page does not have.
const nearestHint = (name, names) => {
  const pairsOf = (text) => new Set(Array.from(text.toLowerCase(), (letter, index) => letter + (text[index + 1] ?? "").toLowerCase()));
  const namePairs = pairsOf(name);
  const similarity = (other) => {
    const otherPairs = pairsOf(other);
    return [...namePairs].filter((pair) => otherPairs.has(pair)).length / (namePairs.size + otherPairs.size);
  };
  const [, nearest] = names.reduce((best, other) => (similarity(other) > best[0] ? [similarity(other), other] : best), [0.2, ""]);
  return nearest && `; nearest: ${visible(nearest)}`;
};

// Make an element with attributes, event handlers ("onclick") and children; a child that is a string becomes a text node.
const element = (name, attributes, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") node.style.cssText = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};

// Make an SVG element with attributes and children.
const svgElement = (name, attributes, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
};

// A value comes as its JSON text, as [beginning, length] of a text that is too long, or as null if it is absent.
const textOf = (value) => (Array.isArray(value) ? value[0] : value);
const isCut = (value) => Array.isArray(value);
const displayText = (value) => (value === null ? "absent" : visible(textOf(value)) + (isCut(value) ? "…" : ""));

// Return a rate with four decimals. Only an exact 0 or 1 is written as 0.0000 or 1.0000; null is "-".
const rateText = (value) => {
  if (value === null) return "-";
  const text = value.toFixed(4);
  return Number(text) === value ? text : ({ "1.0000": "0.9999", "0.0000": "0.0001" }[text] ?? text);
};

const signedRateText = (value) => `${value > 0 ? "+" : value < 0 ? "-" : ""}${rateText(Math.abs(value))}`;
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

// Return a count that fits below a narrow bar: 10,000 and more with three digits and "k" or "M", as `in_short` of the
// Python code does.
const inShort = (count) => {
  if (count < 10_000) return count.toLocaleString("en");
  const [suffix, unit] = count < 999_500 ? ["k", 1e3] : ["M", 1e6];
  return `${Number((count / unit).toPrecision(3))}${suffix}`;
};

const MEANINGS = { TP: "right", FD: "wrong", FN: "missed", FA: "invented", TN: "absent in both" };

const outcomeMark = (name) => element("span", { class: "outcome", title: name }, element("i", { class: `key ${name.toLowerCase()}` }), element("span", {}, MEANINGS[name]));

// Make a table with a header row. A title is a text, or [text, class of its header cell].
const tableOf = (titles, rows) => {
  const headers = titles.map((title) => element("th", { scope: "col", class: Array.isArray(title) ? title[1] : null }, [title].flat()[0]));
  return element("table", { class: "tree" }, element("thead", {}, element("tr", {}, ...headers)), element("tbody", {}, ...rows));
};

// Replace a <noscript> element with the markup inside it. Browsers that run scripts keep that markup as plain text, so
// hundreds of histograms cost nothing until they are opened. The templates have already escaped all values in it.
const unfold = (folded) => {
  const { body } = new DOMParser().parseFromString(folded.textContent, "text/html");
  folded.replaceWith(...body.childNodes);
};
