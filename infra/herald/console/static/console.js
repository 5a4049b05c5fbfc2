// A page that is not seen asks for nothing, and neither does one where something is opened, typed or selected.
document.addEventListener("htmx:beforeRequest", (event) => {
  const busy = document.querySelector("main details[open], main :focus-visible:not(a)") || String(getSelection());
  if (document.hidden || busy) event.preventDefault();
});

// The next page is shown when the stack has answered: until then, this one says so.
const loading = document.getElementById("loading");
addEventListener("beforeunload", () => { loading.textContent = "Asking the stack…"; });
addEventListener("pageshow", () => { loading.textContent = ""; }); // also one that the browser had kept

// An id is copied by its button.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = "Copied";
});

// The box at the head of a list ticks all of its rows.
document.addEventListener("change", (event) => {
  if (!event.target.matches(".tick-all")) return;
  for (const box of event.target.closest("table").querySelectorAll("td.tick input")) box.checked = event.target.checked;
});

// Keys: / searches, g and a letter lead to a page, ? shows the keys.
let led = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const key = event.key;
  if (led) {
    document.querySelector(`nav a[data-key="${CSS.escape(key)}"]`)?.click();
  } else if (key === "/") {
    event.preventDefault();
    document.getElementById("find").focus();
  } else if (key === "?") {
    document.getElementById("keys").showModal();
  }
  led = !led && key === "g";
});
