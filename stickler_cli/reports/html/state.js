// The state of the page, which its address spells out; docs/html-report.md has the grammar.
//
// The state is one object: filters, order and grouping of each list, the open rows of the table of fields, and what the
// panel shows. Each part of the page subscribes to the state and keeps none of it for itself.

const LISTS = {
  fields: { find: "", wrong: "", sort: "", open: [] },
  errors: { find: "", field: "", class: "", outcome: [], cause: "", at: "", what: "", before: "", after: "", similarity: "", gt: "", pred: "", of: "", sort: "", group: "" },
  documents: { find: "", wrong: "", sort: "", score: "", by: "", group: "" },
};
const PANEL = ["document", "path", "as"];

// Keys that change the order of a list or open its rows; all other keys select rows.
const KEYS_WITHOUT_SELECTION = { fields: ["sort", "open"], errors: ["sort", "group"], documents: ["sort"] };

// Return whether a state of a list selects some of its rows.
const isFiltered = (name, list) => Object.entries(list).some(([key, value]) => value.length > 0 && !KEYS_WITHOUT_SELECTION[name].includes(key));

// Allowed values of some keys. If an address has another value, the page names the problem and ignores the key.
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
const wideScreen = matchMedia("(min-width: 1000px)"); // the panel is beside its list; else it covers the page
const phones = matchMedia("(max-width: 760px)");
const LAYOUT_MS = 5000; // time in which drawings above a place may still move it

const NUMBERS = ["similarity", "score"]; // keys whose value is the lower bound of a histogram bar

// Return why a key cannot have this value, or "" if it can.
const problemOf = (list, key, value) => {
  if (NUMBERS.includes(key) && !(Number(value) >= 0 && Number(value) <= 1 && value.trim())) return `${key} is a number from 0 to 1, not ${visible(value)}`;
  const allowed = ALLOWED[list]?.[key];
  return allowed && !allowed.includes(value) ? `no ${key} is called ${visible(value)}${nearestHint(value, allowed)}` : "";
};

// Move the focus to the first row of a list once the list has been drawn.
const focusWhenShown = async (name) => {
  const sections = { errors: Errors, documents: Documents };
  await sections[name]?.settled();
  sections[name]?.focus();
};

const State = (() => {
  const followers = [];

  const encode = (text) => encodeURIComponent(text).replace(/%(?:5B|5D|2C|3A|2F|40|24)/g, decodeURIComponent);
  const decode = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return "";
    }
  };
  const copyOf = (list) => Object.fromEntries(Object.entries(list).map(([key, value]) => [key, Array.isArray(value) ? [...value] : value]));
  /** @returns {any} */
  const emptyState = () => ({ section: "", problems: Object.fromEntries(Object.keys(LISTS).map((name) => [name, []])), ...Object.fromEntries(Object.entries(LISTS).map(([name, list]) => [name, copyOf(list)])), panel: {} });

  // Return the state that a link describes; lists that the link does not name stay as they are in `previous`.
  const parseLink = (link, previous = emptyState()) => {
    const state = { ...emptyState(), ...Object.fromEntries(Object.keys(LISTS).map((name) => [name, copyOf(previous[name])])) };
    const parts = link.replace(/^#/, "").split("&").filter(Boolean);
    const section = parts[0] && !parts[0].includes("=") ? decode(parts.shift()) : "";
    state.section = section;
    const namedLists = new Set();
    const listNamed = (name) => {
      if (!namedLists.has(name)) state[name] = copyOf(LISTS[name]);
      namedLists.add(name);
      return state[name];
    };
    if (section in LISTS && parts.length) listNamed(section);
    for (const part of parts) {
      const equalsAt = part.indexOf("=");
      const value = equalsAt < 0 ? "yes" : decode(part.slice(equalsAt + 1));
      const names = decode(equalsAt < 0 ? part : part.slice(0, equalsAt)).split(".");
      const key = names.pop();
      const list = names.length ? names[0] : section;
      if (!names.length && PANEL.includes(key)) state.panel[key] = value;
      else if (list in LISTS && Object.hasOwn(LISTS[list], key)) {
        const listState = listNamed(list);
        const problem = value && problemOf(list, key, value);
        if (problem) state.problems[list].push(problem);
        else if (Array.isArray(listState[key])) listState[key].push(value);
        else listState[key] = value;
      }
    }
    return state;
  };

  // Return the link that describes a state. Keys of the current section come first and are written without its name.
  const linkOf = (state) => {
    const parts = [];
    if (state.section) parts.push(state.section);
    const names = Object.keys(LISTS);
    for (const name of [...names.filter((list) => list === state.section), ...names.filter((list) => list !== state.section)]) {
      for (const [key, value] of Object.entries(state[name])) {
        const prefix = name === state.section ? "" : `${name}.`;
        for (const item of Array.isArray(value) ? value : [value]) if (item) parts.push(`${prefix}${key}=${encode(item)}`);
      }
    }
    for (const key of PANEL) if (state.panel[key] !== undefined) parts.push(`${key}=${encode(state.panel[key])}`);
    return parts.length ? `#${parts.join("&")}` : location.pathname + location.search;
  };

  let current = parseLink(location.hash);
  let places = []; // elements that a link led to, until the reader acts
  let leaving = 0; // timer after which the page does not go back to the places

  const isNarrowed = ({ section, ...state }) => section in LISTS && JSON.stringify(state[section]) !== JSON.stringify(LISTS[section]);

  // Return the elements that a link leads to: its section, and then the field that it opens. On a phone the filters fill the
  // screen, so a link to a selection leads to its rows; a panel that covers the page leaves the reader at its list.
  const placesOf = (state) => {
    if (hasPanel(state)) return wideScreen.matches ? [] : [byId(`${state.panel.path === undefined ? "documents" : "errors"}-beside`)];
    if (state.section === "fields") return [byId("fields"), Fields.bodyOf(state.fields.open[0])];
    return [phones.matches && isNarrowed(state) ? byId(`${state.section}-count`) : byId(state.section)];
  };

  // Scroll to the places again whenever the page has got another height, unless the reader has acted since.
  const keepPlace = () => {
    for (const [position, place] of places.entries()) place?.scrollIntoView({ block: position ? "nearest" : "start" });
  };
  const leavePlace = () => {
    places = [];
  };

  // Make `next` the current state and notify all subscribers. With `scrolls`, scroll to its place; with `origin`, go back
  // to the link that the reader had followed.
  const setState = (next, { scrolls = false, origin = null } = {}) => {
    const previous = current;
    current = next;
    leavePlace();
    for (const follower of followers) follower(current, previous);
    if (!scrolls) return;
    if (origin?.isConnected) {
      origin.focus({ preventScroll: true });
      origin.scrollIntoView({ block: "nearest" });
      return;
    }
    places = placesOf(current);
    keepPlace();
    clearTimeout(leaving);
    leaving = setTimeout(leavePlace, LAYOUT_MS);
    if (hasPanel(current)) return;
    byId(current.section)?.focus({ preventScroll: true }); // so that the next key acts on the visible section
    if (isNarrowed(current)) focusWhenShown(current.section);
  };

  // Change the state of one list from its own controls, without a new entry in the browser history.
  const change = (name, changes) => {
    const next = { ...current, section: name, problems: { ...current.problems, [name]: [] }, [name]: { ...current[name], ...changes } };
    history.replaceState(history.state, "", linkOf(next));
    setState(next);
  };

  const hasPanel = (state) => state.panel.document !== undefined;

  // Add an entry to the browser history. Each entry counts the entries since the panel was opened, so that closing the
  // panel can go back over all of them. A panel opened by the address of the page has no such count.
  const stepTo = (next) => {
    const steps = hasPanel(current) ? history.state?.panelSteps : 0;
    const panelSteps = hasPanel(next) && steps !== undefined ? steps + 1 : undefined;
    history.pushState({ panelSteps, entry: Date.now() }, "", linkOf(next));
  };

  const origins = new Map(); // identifier of an entry in the browser history -> the link that the reader followed from it

  // Give an entry an identifier; one that the reader made by editing the address has none.
  const identifyEntry = () => {
    if (!history.state?.entry) history.replaceState({ ...history.state, entry: Date.now() }, "");
  };

  // Follow a link within this page, with a new entry in the browser history.
  const openLink = (link, options) => {
    const next = parseLink(link, current);
    stepTo(next);
    setState(next, options);
  };

  let stateWithoutPanel = null; // the state after closing the panel, while the browser goes back

  // Show an error or a document in the panel, or close the panel with {}. Only opening adds an entry to the history.
  const showInPanel = (panel) => {
    const next = { ...current, panel };
    const steps = history.state?.panelSteps;
    if (!hasPanel(current) && hasPanel(next)) stepTo(next);
    else if (hasPanel(current) && !hasPanel(next) && steps) {
      stateWithoutPanel = next;
      history.go(-steps);
    } else history.replaceState(history.state, "", linkOf(next));
    setState(next);
  };

  // Take over the address after the browser went back or forward, or after the reader edited it.
  const readAddress = () => {
    if (stateWithoutPanel) {
      history.replaceState(history.state, "", linkOf(stateWithoutPanel));
      stateWithoutPanel = null;
      return;
    }
    identifyEntry();
    const next = parseLink(location.hash);
    const isPanelAlone = linkOf({ ...next, panel: {} }) === linkOf({ ...current, panel: {} });
    setState(next, { scrolls: !isPanelAlone, origin: origins.get(history.state.entry) });
  };

  const start = () => {
    identifyEntry();
    window.addEventListener("popstate", readAddress);
    document.addEventListener("click", (event) => {
      const link = targetOf(event).closest("a[href^='#']");
      if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      origins.set(history.state.entry, link);
      openLink(link.getAttribute("href"), { scrolls: true });
    });
    for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) window.addEventListener(act, leavePlace, { capture: true, passive: true });
    new ResizeObserver(keepPlace).observe(document.querySelector("main"));
    setState(current, { scrolls: Boolean(location.hash) });
  };

  return {
    start,
    change,
    openLink,
    showInPanel,
    link: (panel) => linkOf({ ...current, panel }),
    subscribe: (follower) => followers.push(follower),
    get now() {
      return current;
    },
  };
})();
