// Starts the page: the links of the navigation, the key "/", printing, and the lists.

const copy = async (text, button) => {
  const before = button.textContent;
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = before), 1200);
};

const sections = elementsOf("main > section");
const links = new Map(elementsOf("nav a").map((link) => [link.hash.slice(1), link]));
const sectionObserver = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) targetOf(entry).dataset.seen = entry.isIntersecting ? "yes" : "";
    const current = sections.find((section) => section.dataset.seen);
    for (const [id, link] of links) {
      if (current && id === current.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  },
  { rootMargin: "-20% 0px -60% 0px" },
);
for (const section of sections) sectionObserver.observe(section);

// Filters of a list stay when the reader goes to another section, so the links of the navigation show which lists have some.
State.subscribe((state) => {
  for (const name of Object.keys(LISTS)) {
    const link = links.get(name);
    link?.querySelector(".filtered")?.remove();
    if (isFiltered(name, state[name])) link?.append(element("span", { class: "filtered", title: "Filters are set in this section" }, " filtered"));
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || targetOf(event).matches("input, select, textarea") || byId("panel").open) return;
  event.preventDefault();
  const current = sections.find((section) => section.dataset.seen && section.querySelector("input[type=search]"));
  (current ? current.querySelector("input[type=search]") : byId("errors-find")).focus();
});
// Printing shows the tables for browsers without scripts, because a list on paper cannot be scrolled.
const unfoldPrinted = () => {
  for (const folded of document.querySelectorAll(".printed noscript")) unfold(folded);
};
window.addEventListener("beforeprint", unfoldPrinted);
window.matchMedia("print").addEventListener("change", unfoldPrinted);

document.documentElement.classList.add("js");
Errors.start()
  .then(Documents.start)
  .then(() => {
    Pictures.start().catch(fail);
    Panel.start();
    State.start();
    return Promise.all([Errors.settled(), Documents.settled()]);
  })
  .then(() => {
    document.documentElement.dataset.ready = "yes";
  })
  .catch(fail);
