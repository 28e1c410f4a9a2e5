// The verdicts of a reader by the key of the judged thing: stored in the browser, and downloaded as JSON lines.

const keptVerdicts = (redraw) => {
  const verdicts = new Map(); // key -> [verdict, line]
  const bar = element("p", { class: "verdicts", role: "status" });
  let storageKey = "";
  let isStored = true;

  const of = (key) => verdicts.get(key)?.[0];

  const store = () => {
    try {
      if (verdicts.size) localStorage.setItem(storageKey, JSON.stringify([...verdicts]));
      else localStorage.removeItem(storageKey);
    } catch {
      isStored = false;
    }
    draw();
  };

  // Set the verdict on a key; setting the same verdict again removes it.
  const toggle = (key, verdict, line) => {
    if (of(key) === verdict) verdicts.delete(key);
    else verdicts.set(key, [verdict, line]);
    store();
  };

  const download = () => {
    const text = [...verdicts.values()].map(([, line]) => `${line}\n`).join("");
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/jsonl" })), download: "verdicts.jsonl" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const forget = () => {
    if (!window.confirm(`Forget ${plural(verdicts.size, "verdict")}?`)) return;
    verdicts.clear();
    store();
    redraw();
  };

  const draw = () => {
    // The bar is shown without verdicts too, or the first verdict would move the rest of the page down.
    const count = verdicts.size ? plural(verdicts.size, "verdict") : "No verdicts yet";
    bar.replaceChildren(
      element("span", {}, `${count}${isStored ? "" : ", lost when this page is closed"}`),
      element("button", { type: "button", disabled: !verdicts.size, onclick: download }, "Download verdicts.jsonl"),
      element("button", { type: "button", disabled: !verdicts.size, onclick: forget }, "Forget"),
    );
  };

  // Read the stored verdicts of this page; every page has its own.
  const restore = (name) => {
    storageKey = `stickler-verdicts ${name}`;
    try {
      for (const [key, entry] of JSON.parse(localStorage.getItem(storageKey) || "[]")) verdicts.set(key, entry);
    } catch {
      isStored = false;
    }
    draw();
  };

  return { bar, restore, of, toggle };
};
