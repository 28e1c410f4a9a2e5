// What was packed into the page: unpacked when it is first asked for, and never again.

const unpacked = new Map();

const load = (name) => {
  if (!unpacked.has(name)) unpacked.set(name, unpack(byId(`data-${name}`)));
  return unpacked.get(name);
};

const unpack = async (holder) => {
  if (!("DecompressionStream" in window)) {
    throw new Error("this browser is older than 2023 and cannot unpack the lists of errors and documents");
  }
  const text = atob(holder.textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const value = JSON.parse(await new Response(stream).text());
  holder.textContent = "";
  return value;
};

const fail = (error) => {
  byId("failure").textContent = `Part of this page does not work: ${error.message}`;
  byId("failure").hidden = false;
};
