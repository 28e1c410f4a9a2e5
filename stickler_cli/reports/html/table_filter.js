// Shows only the rows of a table that contain the searched text.

const listingRows = elementsOf("#listing tbody tr");
const filterListing = () => {
  const find = byId("listing-find").value.trim().toLowerCase();
  let count = 0;
  for (const row of listingRows) {
    row.hidden = !row.textContent.toLowerCase().includes(find);
    count += row.hidden ? 0 : 1;
  }
  const total = plural(listingRows.length, "row");
  byId("listing-count").textContent = count === listingRows.length ? total : `${count.toLocaleString("en")} of ${total}`;
};
byId("listing-find").addEventListener("input", filterListing);
byId("listing-tools").addEventListener("submit", (event) => event.preventDefault());
document.documentElement.classList.add("js");
document.documentElement.dataset.ready = "yes";
filterListing();
