// The panel that shows one error or one document: beside its list, or over the page on a narrow screen. The state of the
// page says what it shows.

const Panel = (() => {
  const panel = byId("panel");
  let moves = {}; // `before` and `after` show the previous and the next item
  let openSection = ""; // the section that the panel is in

  const close = () => State.showInPanel({});

  const hide = () => {
    if (!panel.open) return;
    const hadFocus = panel.contains(document.activeElement) || document.activeElement === document.body;
    panel.close();
    panel.parentElement.classList.remove("open");
    if (hadFocus) (openSection === "errors" ? Errors : Documents).focus();
  };

  const show = (section, title, parts, newMoves) => {
    moves = newMoves;
    const button = (text, label, move) => element("button", { type: "button", "aria-label": label, disabled: !move, onclick: () => move?.() }, text);
    const focusedLabel = panel.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    const holder = byId(`${section}-beside`);
    if (panel.parentElement !== holder) {
      panel.close();
      panel.parentElement.classList.remove("open");
      holder.append(panel);
    }
    panel.replaceChildren(
      element(
        "div",
        { class: "bar-top" },
        element("h2", { id: "panel-title" }, ...title),
        element("span", { class: "note" }, newMoves.place),
        button("←", "Previous", newMoves.before),
        button("→", "Next", newMoves.after),
        button("✕", "Close", close),
      ),
      element("div", { class: "inside", tabindex: "0", role: "group", "aria-label": "Details" }, ...parts.filter((part) => part !== null)),
    );
    openSection = section;
    holder.classList.add("open");
    if (!panel.open) {
      if (wideScreen.matches) panel.show();
      else panel.showModal();
    }
    const focusedBefore = focusedLabel && panel.querySelector(`[aria-label="${focusedLabel}"]:not(:disabled)`);
    (focusedBefore || panel.querySelector(".inside")).focus({ preventScroll: true });
    if (wideScreen.matches) holder.scrollIntoView({ block: "nearest" });
  };

  panel.addEventListener("cancel", (event) => {
    event.preventDefault();
    close();
  });
  panel.addEventListener("keydown", (event) => {
    if (targetOf(event).matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = { ArrowLeft: moves.before, k: moves.before, ArrowRight: moves.after, j: moves.after, Escape: close }[event.key];
    if (move) event.preventDefault();
    if (move) move();
    if ("1234".includes(event.key)) panel.querySelectorAll("[data-verdict]")[Number(event.key) - 1]?.click();
  });
  // Subscribe after the lists: the previous and the next error depend on what the lists show.
  const start = () => {
    State.subscribe(({ panel: { document: id, path } }) => {
      if (id === undefined) hide();
      else (path === undefined ? Documents.show(id) : Errors.show(State.now.panel)).catch(fail);
    });
    wideScreen.addEventListener("change", () => {
      if (!panel.open) return;
      panel.close();
      State.showInPanel(State.now.panel);
    });
  };

  return { start, show };
})();
