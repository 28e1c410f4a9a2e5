// Verdicts on the rows of tables: a button adds its entries to the line of its row.

const fieldsets = elementsOf("[data-line]");
const keyOf = (fieldset) => fieldset.dataset.line;

const press = () => {
  for (const fieldset of fieldsets) {
    for (const button of fieldset.querySelectorAll("button")) button.setAttribute("aria-pressed", String(kept.of(keyOf(fieldset)) === button.dataset.more));
  }
};

const kept = keptVerdicts(press);
for (const fieldset of fieldsets) {
  fieldset.addEventListener("click", (event) => {
    const { more } = targetOf(event).dataset;
    if (more) kept.say(keyOf(fieldset), more, `${keyOf(fieldset).slice(0, -1)},${more.slice(1)}`);
    press();
  });
}
document.documentElement.classList.add("js");
fieldsets[0].closest(".scroll").before(kept.bar);
kept.open(document.currentScript.dataset.page);
press();
document.documentElement.dataset.ready = "yes";
