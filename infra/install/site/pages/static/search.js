// Filters the table of event types. Without it, the table is whole.
const table = document.querySelector("main table");
const label = document.createElement("label");
label.textContent = "Search names, descriptions and fields";
const input = document.createElement("input");
input.type = "search";
input.id = "search";
const found = document.createElement("p");
found.setAttribute("role", "status");
label.append(input);
table.before(label, found);
const rows = [...table.tBodies[0].rows].map((row) => [row, row.textContent.toLowerCase()]);
input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const [row, text] of rows) {
    row.hidden = !words.every((word) => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  found.textContent = words.length ? `${shown} of ${rows.length} types` : "";
});
