// What was packed into the page, and who is asked for errors and documents: a worker that has them, or the program that
// serves the page.

const SERVED = byId("panel").dataset.served !== undefined;
const unpacked = new Map();
const here = engine(QUERIES); // what is little, and all where no worker may be had, is done on this thread

const fail = (error) => {
  byId("failure").textContent = `Part of this page does not work: ${error.message}`;
  byId("failure").hidden = false;
};

const handedOver = (name) => {
  const holder = byId(`data-${name}`);
  const text = holder?.textContent ?? "";
  if (holder) holder.textContent = "";
  return text;
};

// The few things that are read at once, on this thread.
const load = (name) => {
  if (!unpacked.has(name)) unpacked.set(name, here("unpack", [handedOver(name)]));
  return unpacked.get(name);
};

const asked = new Map(); // question by number: what to do with its answer
let questions = 0;

const hired = () => {
  try {
    const worker = new Worker(URL.createObjectURL(new Blob([`(${engine})(${JSON.stringify(QUERIES)})`], { type: "text/javascript" })));
    worker.onmessage = ({ data: [number, value, problem] }) => {
      const [take, refuse] = asked.get(number);
      asked.delete(number);
      if (problem === null) take(value);
      else refuse(new Error(problem));
    };
    worker.onerror = (event) => fail(new Error(event.message || "its worker does not run"));
    return (name, values) =>
      new Promise((take, refuse) => {
        questions += 1;
        asked.set(questions, [take, refuse]);
        worker.postMessage([questions, name, values]);
      });
  } catch {
    return here;
  }
};

const answered = SERVED
  ? async (name, values) => {
      const answer = await fetch(`${name}?q=${encodeURIComponent(JSON.stringify(values))}`);
      if (!answer.ok) throw new Error(`stickler view answered ${answer.status}`);
      const value = await answer.json();
      return Array.isArray(value) ? value.map((line) => JSON.parse(line)) : value;
    }
  : hired();

// Ask, and let everybody see that an answer is on its way.
const ask = async (name, ...values) => {
  const { dataset } = document.documentElement;
  dataset.busy = String(Number(dataset.busy ?? 0) + 1);
  try {
    return await answered(name, values);
  } finally {
    if (dataset.busy === "1") delete dataset.busy;
    else dataset.busy = String(Number(dataset.busy) - 1);
  }
};
