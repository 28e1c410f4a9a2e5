// The panel over the page, for one error or one document; every state of it has a link.

const Panel = (() => {
  const panel = byId("panel");
  let under = ""; // the link of what is below
  let steps = {};

  const go = (link) => {
    if (panel.open) history.replaceState(null, "", link);
    else {
      under = location.hash;
      history.pushState(null, "", link);
    }
    route();
  };

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
      element("div", { class: "inside", tabindex: "0" }, ...inside.filter((part) => part !== null)),
    );
    if (!panel.open) panel.showModal();
    const again = focused && panel.querySelector(`[aria-label="${focused}"]:not(:disabled)`);
    (again || panel.querySelector(".inside")).focus();
  };

  const close = () => panel.open && panel.close();

  panel.addEventListener("close", () => history.replaceState(null, "", under || location.pathname + location.search));
  panel.addEventListener("click", (event) => event.target === panel && close());
  panel.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select")) return;
    if (event.key === "ArrowLeft" && steps.before) steps.before();
    if (event.key === "ArrowRight" && steps.after) steps.after();
  });

  // Go away without a trace, for a link that leads elsewhere.
  const leave = () => {
    under = location.hash;
    close();
  };

  return { go, show, leave };
})();
