// What the page shows, as its address says it: docs/html-report.md has the grammar.
//
// One object: filters, sort and group of each list, what is open in the table of fields, and what the panel
// shows. Whoever shows a part of it follows it; nobody else keeps any of it.

const LISTS = {
  fields: { find: "", wrong: "", sort: "", open: [] },
  errors: { find: "", field: "", class: "", outcome: [], cause: "", at: "", what: "", before: "", after: "", similarity: "", gt: "", pred: "", of: "", sort: "", group: "" },
  documents: { find: "", wrong: "", sort: "", score: "", by: "", group: "" },
};
const PANEL = ["document", "path", "as"];

// What some keys can be; an address that says something else is told so, and the key is left out.
const ORDERS_OF = { errors: ["document", "field", "class", "outcome", "gt", "pred", "pair", "similarity"], documents: ["errors", "id"] };
const ALLOWED = {
  errors: {
    group: ["none", "cause", "field", "class", "pair", "document"],
    what: ["values", "wholes", "judged", "all"],
    sort: ORDERS_OF.errors.flatMap((name) => [name, `-${name}`]),
  },
  documents: { sort: ORDERS_OF.documents.flatMap((name) => [name, `-${name}`]) },
  fields: {},
};
const NUMBERS = ["similarity", "score"]; // keys whose value is where a bar of a histogram begins

// Why a value of a key cannot be: a sentence, or nothing.
const problemOf = (list, key, value) => {
  if (NUMBERS.includes(key) && !(Number(value) >= 0 && Number(value) <= 1 && value.trim())) return `${key} is a number from 0 to 1, not ${visible(value)}`;
  const allowed = ALLOWED[list]?.[key];
  return allowed && !allowed.includes(value) ? `no ${key} is called ${visible(value)}${nearest(value, allowed)}` : "";
};

// A link that narrows a list leads to its first row.
const onceShown = async (name) => {
  const lists = { errors: Errors, documents: Documents };
  await lists[name]?.settled();
  lists[name]?.focus();
};

const State = (() => {
  const followers = [];

  const encoded = (text) => encodeURIComponent(text).replace(/%(?:5B|5D|2C|3A|2F|40|24)/g, decodeURIComponent);
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return "";
    }
  };
  const copyOf = (list) => Object.fromEntries(Object.entries(list).map(([key, value]) => [key, Array.isArray(value) ? [...value] : value]));
  /** @returns {any} */
  const fresh = () => ({ section: "", problems: Object.fromEntries(Object.keys(LISTS).map((name) => [name, []])), ...Object.fromEntries(Object.entries(LISTS).map(([name, list]) => [name, copyOf(list)])), panel: {} });

  // Take over what a link says; lists that it does not name stay as they are in `before`.
  const parsed = (link, before = fresh()) => {
    const state = { ...fresh(), ...Object.fromEntries(Object.keys(LISTS).map((name) => [name, copyOf(before[name])])) };
    const parts = link.replace(/^#/, "").split("&").filter(Boolean);
    const first = parts[0] && !parts[0].includes("=") ? decoded(parts.shift()) : "";
    state.section = first;
    const named = new Set();
    const listOf = (name) => {
      if (!named.has(name)) state[name] = copyOf(LISTS[name]);
      named.add(name);
      return state[name];
    };
    if (first in LISTS && parts.length) listOf(first);
    for (const part of parts) {
      const at = part.indexOf("=");
      const value = at < 0 ? "yes" : decoded(part.slice(at + 1));
      const names = decoded(at < 0 ? part : part.slice(0, at)).split(".");
      const key = names.pop();
      const list = names.length ? names[0] : first;
      if (!names.length && PANEL.includes(key)) state.panel[key] = value;
      else if (list in LISTS && Object.hasOwn(LISTS[list], key)) {
        const into = listOf(list);
        const problem = value && problemOf(list, key, value);
        if (problem) state.problems[list].push(problem);
        else if (Array.isArray(into[key])) into[key].push(value);
        else into[key] = value;
      }
    }
    return state;
  };

  // The section whose list it is about comes first, and its keys without its name.
  const written = (state) => {
    const parts = [];
    if (state.section) parts.push(state.section);
    const names = Object.keys(LISTS);
    for (const name of [...names.filter((each) => each === state.section), ...names.filter((each) => each !== state.section)]) {
      for (const [key, value] of Object.entries(state[name])) {
        const before = name === state.section ? "" : `${name}.`;
        for (const each of Array.isArray(value) ? value : [value]) if (each) parts.push(`${before}${key}=${encoded(each)}`);
      }
    }
    for (const key of PANEL) if (state.panel[key] !== undefined) parts.push(`${key}=${encoded(state.panel[key])}`);
    return parts.length ? `#${parts.join("&")}` : location.pathname + location.search;
  };

  let now = parsed(location.hash);

  const tell = (next, { scrolls = false } = {}) => {
    const before = now;
    now = next;
    for (const follow of followers) follow(now, before);
    if (!scrolls || now.panel.document) return;
    const place = byId(now.section);
    place?.scrollIntoView();
    place?.focus({ preventScroll: true }); // so that the next key is about what one looks at
    if (now.section in LISTS && JSON.stringify(now[now.section]) !== JSON.stringify(LISTS[now.section])) onceShown(now.section);
  };

  // Change one list from its own controls: no step of the history.
  const change = (name, changes) => {
    const next = { ...now, section: name, problems: { ...now.problems, [name]: [] }, [name]: { ...now[name], ...changes } };
    history.replaceState(history.state, "", written(next));
    tell(next);
  };

  const hasPanel = (state) => state.panel.document !== undefined;

  // A step of the history counts how many steps ago the panel was opened, so that closing it takes back all of them: the
  // next "back" leaves what was there before. A panel that the address of the page opened has no such step.
  const stepTo = (next) => {
    const steps = hasPanel(now) ? history.state?.panelSteps : 0;
    const panelSteps = hasPanel(next) && steps !== undefined ? steps + 1 : undefined;
    history.pushState(panelSteps ? { panelSteps } : null, "", written(next));
  };

  // Follow a link of this page: a step of the history.
  const go = (link, options) => {
    const next = parsed(link, now);
    stepTo(next);
    tell(next, options);
  };

  let closed = null; // the state without its panel, until the browser has gone back

  // Show something in the panel, or nothing; going on from one thing to the next is no step.
  const show = (panel) => {
    const next = { ...now, panel };
    const steps = history.state?.panelSteps;
    if (!hasPanel(now) && hasPanel(next)) stepTo(next);
    else if (hasPanel(now) && !hasPanel(next) && steps) {
      closed = next;
      history.go(-steps);
    } else history.replaceState(history.state, "", written(next));
    tell(next);
  };

  // The browser went back or forth, or somebody wrote an address.
  const arrive = () => {
    if (closed) {
      history.replaceState(history.state, "", written(closed));
      closed = null;
      return;
    }
    const next = parsed(location.hash);
    const isPanelAlone = written({ ...next, panel: {} }) === written({ ...now, panel: {} });
    tell(next, { scrolls: !isPanelAlone });
  };

  const start = () => {
    window.addEventListener("popstate", arrive);
    document.addEventListener("click", (event) => {
      const link = targetOf(event).closest("a[href^='#']");
      if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(link.getAttribute("href"), { scrolls: true });
    });
    tell(now, { scrolls: Boolean(location.hash) });
  };

  return {
    start,
    change,
    go,
    show,
    link: (panel) => written({ ...now, panel }),
    follow: (follow) => followers.push(follow),
    get now() {
      return now;
    },
  };
})();
