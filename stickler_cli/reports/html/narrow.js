// What the list of errors is narrowed to by links, beyond what its form can say: a text and a test each.

const causes = Array.from(document.querySelectorAll("[data-cause]"), (link) => ({ key: link.dataset.cause, text: link.textContent }));

const NARROWING = {
  of: (id) => ({ text: `document ${visible(id)}`, test: (error) => error[DOCUMENT] === id }),
  cause: (key) => {
    const at = causes.findIndex((cause) => cause.key === key);
    return { text: `cause: ${causes[at]?.text ?? visible(key)}`, test: (error) => error[CAUSE] === at && at >= 0 };
  },
  at: (path) => ({ text: `field ${visible(path)} itself`, test: (error) => Fields.pathOf(error[ROW]) === path }),
  what: (kind) => ({
    text: kind === "values" ? "single values" : "items and objects as a whole",
    test: (error) => (error[VALUES] === null) === (kind === "values"),
  }),
  gt: (json) => ({ text: `ground truth ${visible(json)}`, test: (error) => textOf(error[GT]) === json }),
  pred: (json) => ({ text: `prediction ${visible(json)}`, test: (error) => textOf(error[PRED]) === json }),
};

const narrowed = (state) =>
  Object.entries(NARROWING)
    .filter(([key]) => state[key])
    .map(([key, make]) => ({ key, ...make(state[key]) }));
