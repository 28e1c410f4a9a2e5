// Verdicts on the rows of a table of a study: the line of a verdict joins the entries of its row and of its button.

const fieldsets = elementsOf("[data-line]");
const keyOf = (fieldset) => fieldset.dataset.line;

const updateButtons = () => {
  for (const fieldset of fieldsets) {
    for (const button of fieldset.querySelectorAll("button")) button.setAttribute("aria-pressed", String(verdicts.of(keyOf(fieldset)) === button.dataset.more));
  }
};

const verdicts = keptVerdicts(updateButtons);
for (const fieldset of fieldsets) {
  fieldset.addEventListener("click", (event) => {
    const { more } = targetOf(event).dataset;
    if (more) verdicts.toggle(keyOf(fieldset), more, `${keyOf(fieldset).slice(0, -1)},${more.slice(1)}`);
    updateButtons();
  });
}
document.documentElement.classList.add("js");
fieldsets[0].closest(".scroll").before(verdicts.bar);
verdicts.restore(document.currentScript.dataset.page);
updateButtons();
document.documentElement.dataset.ready = "yes";
