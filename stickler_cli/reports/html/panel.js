// The panel beside a list, for one error or one document; over the page where there is no room beside it. The state
// says what it shows.

const Panel = (() => {
  const panel = byId("panel");
  const wide = matchMedia("(min-width: 1000px)");
  let steps = {};
  let place = ""; // the section that it stands in

  const close = () => State.show({});

  const hide = () => {
    if (!panel.open) return;
    const had = panel.contains(document.activeElement) || document.activeElement === document.body;
    panel.close();
    panel.parentElement.classList.remove("open");
    if (had) (place === "errors" ? Errors : Documents).focus();
  };

  const show = (section, title, inside, moves) => {
    steps = moves;
    const button = (text, label, move) => element("button", { type: "button", "aria-label": label, disabled: !move, onclick: () => move?.() }, text);
    const focused = panel.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    const beside = byId(`${section}-beside`);
    if (panel.parentElement !== beside) {
      panel.close();
      panel.parentElement.classList.remove("open");
      beside.append(panel);
    }
    panel.replaceChildren(
      element(
        "div",
        { class: "bar-top" },
        element("h2", { id: "panel-title" }, ...title),
        element("span", { class: "note" }, moves.place),
        button("←", "Previous", moves.before),
        button("→", "Next", moves.after),
        button("✕", "Close", close),
      ),
      element("div", { class: "inside", tabindex: "0", role: "group", "aria-label": "Details" }, ...inside.filter((part) => part !== null)),
    );
    place = section;
    beside.classList.add("open");
    if (!panel.open) {
      if (wide.matches) panel.show();
      else panel.showModal();
    }
    const again = focused && panel.querySelector(`[aria-label="${focused}"]:not(:disabled)`);
    (again || panel.querySelector(".inside")).focus({ preventScroll: true });
    if (wide.matches) beside.scrollIntoView({ block: "nearest" });
  };

  panel.addEventListener("cancel", (event) => {
    event.preventDefault();
    close();
  });
  panel.addEventListener("keydown", (event) => {
    if (targetOf(event).matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = { ArrowLeft: steps.before, k: steps.before, ArrowRight: steps.after, j: steps.after, Escape: close }[event.key];
    if (move) event.preventDefault();
    if (move) move();
    if ("1234".includes(event.key)) panel.querySelectorAll("[data-verdict]")[Number(event.key) - 1]?.click();
  });
  // After the lists follow the state: what comes before and after an error is what they show.
  const start = () => {
    State.follow(({ panel: { document: id, path } }) => {
      if (id === undefined) hide();
      else (path === undefined ? Documents.show(id) : Errors.show(State.now.panel)).catch(fail);
    });
    wide.addEventListener("change", () => {
      if (!panel.open) return;
      panel.close();
      State.show(State.now.panel);
    });
  };

  return { start, show };
})();
