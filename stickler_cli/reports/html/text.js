// Text on the page: every value is shown by textContent, never as markup.

/** @returns {any} an element, of a type that the caller knows */
const byId = (id) => document.getElementById(id);

/** @returns {any[]} the elements of a selector */
const elementsOf = (selector, parent = document) => Array.from(parent.querySelectorAll(selector));

/** @returns {any} the element that an event happened to */
const targetOf = (event) => event.target;

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

// Spell out what cannot be seen, moves the cursor or turns text around.
const visible = (text) =>
  text.replace(UNSEEN, (letter) => {
    const code = letter.codePointAt(0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });

// Addresses name what somebody else's page may have: what is not here is said, with what is nearest to it.
const nearest = (name, names) => {
  const pairs = (text) => new Set(Array.from(text.toLowerCase(), (letter, at) => letter + (text[at + 1] ?? "").toLowerCase()));
  const own = pairs(name);
  const likeness = (other) => {
    const its = pairs(other);
    return [...own].filter((pair) => its.has(pair)).length / (own.size + its.size);
  };
  const best = names.reduce((kept, other) => (likeness(other) > kept[0] ? [likeness(other), other] : kept), [0.2, ""]);
  return best[1] && `; nearest: ${visible(best[1])}`;
};

// Make an element with attributes and children; a string is a child of text.
const element = (name, attributes, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "style") made.style.cssText = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

const drawn = (name, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
};

// A value is its JSON text, [beginning, length] of one that is too long, or null.
const textOf = (value) => (Array.isArray(value) ? value[0] : value);
const isCut = (value) => Array.isArray(value);
const shown = (value) => (value === null ? "absent" : visible(textOf(value)) + (isCut(value) ? "…" : ""));

// Four decimals, never rounded onto 0 or 1 that it is not.
const rate = (value) => {
  if (value === null) return "-";
  const text = value.toFixed(4);
  return Number(text) === value ? text : ({ "1.0000": "0.9999", "0.0000": "0.0001" }[text] ?? text);
};

const signed = (value) => `${value > 0 ? "+" : value < 0 ? "-" : ""}${rate(Math.abs(value))}`;
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

// A number that fits below a narrow bar, as `in_short` of the Python code writes it.
const inShort = (count) => {
  if (count < 10_000) return count.toLocaleString("en");
  const [name, size] = count < 999_500 ? ["k", 1e3] : ["M", 1e6];
  return `${Number((count / size).toPrecision(3))}${name}`;
};

const MEANINGS = { TP: "right", FD: "wrong", FN: "missed", FA: "invented", TN: "absent in both" };

const outcomeMark = (name) => element("span", { class: "outcome", title: name }, element("i", { class: `key ${name.toLowerCase()}` }), element("span", {}, MEANINGS[name]));

// A table of values, of titles that may have a class.
const tableOf = (titles, rows) => {
  const heads = titles.map((title) => element("th", { scope: "col", class: Array.isArray(title) ? title[1] : null }, [title].flat()[0]));
  return element("table", { class: "tree" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
};

// Put what stands in a <noscript> there. It is markup of the page itself, escaped where it was made; a browser that
// runs this has only its text until then, or hundreds of histograms would keep everybody waiting.
const unfold = (folded) => {
  const { body } = new DOMParser().parseFromString(folded.textContent, "text/html");
  folded.replaceWith(...body.childNodes);
};
