// The panel over the page, for one error or one document; the state says what it shows.

const Panel = (() => {
  const panel = byId("panel");
  let steps = {};

  const close = () => State.show({});

  const show = (title, inside, moves) => {
    steps = moves;
    const button = (text, label, move) => element("button", { type: "button", "aria-label": label, disabled: !move, onclick: () => move && move() }, text);
    const focused = panel.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
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
    if (!panel.open) panel.showModal();
    const again = focused && panel.querySelector(`[aria-label="${focused}"]:not(:disabled)`);
    (again || panel.querySelector(".inside")).focus();
  };

  panel.addEventListener("close", () => State.now.panel.document !== undefined && close());
  panel.addEventListener("click", (event) => event.target === panel && close());
  panel.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea")) return;
    if (event.key === "ArrowLeft" && steps.before) steps.before();
    if (event.key === "ArrowRight" && steps.after) steps.after();
    if (!event.ctrlKey && !event.metaKey && !event.altKey && "1234".includes(event.key)) panel.querySelectorAll("[data-verdict]")[Number(event.key) - 1]?.click();
  });
  // After the lists follow the state: what comes before and after an error is what they show.
  const start = () =>
    State.follow(({ panel: { document: id, path } }) => {
      if (id === undefined) panel.close();
      else (path === undefined ? Documents.show(id) : Errors.show(State.now.panel)).catch(fail);
    });

  return { start, show };
})();
