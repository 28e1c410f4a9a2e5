// Unpacks the data in the page, and asks for errors and documents: a worker that holds them, or `stickler view` if it
// serves the page.

const SERVED = byId("panel").dataset.served !== undefined;
const unpacked = new Map();
const answerHere = engine(QUERIES); // runs on this thread: small tasks, and every task if the browser forbids workers

const fail = (error) => {
  byId("failure").textContent = `Part of this page does not work: ${error.message}`;
  byId("failure").hidden = false;
};

// Return the packed text of a part of the page, and remove it from the page to free its memory.
const takePacked = (name) => {
  const holder = byId(`data-${name}`);
  const text = holder?.textContent ?? "";
  if (holder) holder.textContent = "";
  return text;
};

// Unpack a small part of the page on this thread; later calls return the same promise.
const load = (name) => {
  if (!unpacked.has(name)) unpacked.set(name, answerHere("unpack", [takePacked(name)]));
  return unpacked.get(name);
};

const openQuestions = new Map(); // number of a question -> [resolve, reject] of its promise
let questionCount = 0;

// Start the worker, and return the function that asks it. Without workers, return the engine of this thread.
const startWorker = () => {
  try {
    const worker = new Worker(URL.createObjectURL(new Blob([`(${engine})(${JSON.stringify(QUERIES)})`], { type: "text/javascript" })));
    worker.onmessage = ({ data: [number, value, problem] }) => {
      const [resolve, reject] = openQuestions.get(number);
      openQuestions.delete(number);
      if (problem === null) resolve(value);
      else reject(new Error(problem));
    };
    worker.onerror = (event) => fail(new Error(event.message || "its worker does not run"));
    return (name, values) =>
      new Promise((resolve, reject) => {
        questionCount += 1;
        openQuestions.set(questionCount, [resolve, reject]);
        worker.postMessage([questionCount, name, values]);
      });
  } catch {
    return answerHere;
  }
};

const answerQuestion = SERVED
  ? async (name, values) => {
      const answer = await fetch(`${name}?q=${encodeURIComponent(JSON.stringify(values))}`);
      if (!answer.ok) throw new Error(`stickler view answered ${answer.status}`);
      const value = await answer.json();
      return Array.isArray(value) ? value.map((line) => JSON.parse(line)) : value;
    }
  : startWorker();

// Ask a question. While answers are awaited, `data-busy` of the document says how many.
const ask = async (name, ...values) => {
  const { dataset } = document.documentElement;
  dataset.busy = String(Number(dataset.busy ?? 0) + 1);
  try {
    return await answerQuestion(name, values);
  } finally {
    if (dataset.busy === "1") delete dataset.busy;
    else dataset.busy = String(Number(dataset.busy) - 1);
  }
};
