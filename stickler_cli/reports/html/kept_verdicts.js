// Verdicts of a person, by what they are about: kept in the browser, and downloaded as lines of JSON.

const keptVerdicts = (redraw) => {
  const said = new Map(); // key -> [verdict, line]
  const bar = element("p", { class: "verdicts", role: "status" });
  let place = "";
  let lasting = true;

  const of = (key) => said.get(key)?.[0];

  const store = () => {
    try {
      if (said.size) localStorage.setItem(place, JSON.stringify([...said]));
      else localStorage.removeItem(place);
    } catch {
      lasting = false;
    }
    draw();
  };

  // Say something; the same again takes it back.
  const say = (key, verdict, line) => {
    if (of(key) === verdict) said.delete(key);
    else said.set(key, [verdict, line]);
    store();
  };

  const download = () => {
    const text = [...said.values()].map(([, line]) => `${line}\n`).join("");
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/jsonl" })), download: "verdicts.jsonl" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const forget = () => {
    if (!window.confirm(`Forget ${plural(said.size, "verdict")}?`)) return;
    said.clear();
    store();
    redraw();
  };

  const draw = () => {
    // Always there, or the first verdict would push down what one looks at.
    const count = said.size ? plural(said.size, "verdict") : "No verdicts yet";
    bar.replaceChildren(
      element("span", {}, `${count}${lasting ? "" : ", lost when this page is closed"}`),
      element("button", { type: "button", disabled: !said.size, onclick: download }, "Download verdicts.jsonl"),
      element("button", { type: "button", disabled: !said.size, onclick: forget }, "Forget"),
    );
  };

  // Read what was said on this page before; another page has other verdicts.
  const open = (name) => {
    place = `stickler-verdicts ${name}`;
    try {
      for (const [key, entry] of JSON.parse(localStorage.getItem(place) || "[]")) said.set(key, entry);
    } catch {
      lasting = false;
    }
    draw();
  };

  return { bar, open, of, say };
};
