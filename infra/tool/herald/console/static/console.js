// A page that is not seen asks for nothing, and neither does one where something is opened, typed or selected.
document.addEventListener("htmx:beforeRequest", (event) => {
  const busy = document.querySelector("main details[open], main :focus-visible:not(a)") || String(getSelection());
  if (document.hidden || busy) event.preventDefault();
});

// The next page is shown when the stack has answered: until then, this one says so.
const loading = document.getElementById("loading");
addEventListener("beforeunload", () => { loading.textContent = "Asking the stack…"; });
addEventListener("pageshow", () => { loading.textContent = ""; }); // also one that the browser had kept

// A live page that has no answer says so: what it shows may have changed. One that changes no more asks no more.
let answered = Date.now();
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) answered = Date.now();
  if (event.detail.xhr.status === 286) document.querySelector("main").removeAttribute("hx-get");
});
const stale = document.getElementById("stale");
setInterval(() => {
  const age = 10 * Math.floor((Date.now() - answered) / 10000);
  const old = age >= 20 && !document.hidden && document.querySelector("main[hx-get]");
  const words = old ? `This page is ${age} s old: the console does not answer, or you have opened or selected something.` : "";
  if (stale.textContent !== words) stale.textContent = words;
}, 1000);

// A page that follows the log says that it is open, also while it is not refreshed: otherwise that ends.
setInterval(() => {
  const alive = document.querySelector("[data-alive]");
  if (alive && !document.hidden) fetch(alive.dataset.alive).catch(() => {}); // the page says by itself that it is stale
}, 10000);

// The result of an act is told once: a page that is loaded again, or left and found again, is without it.
const here = new URL(location);
if (here.searchParams.has("done")) {
  here.searchParams.delete("done");
  history.replaceState(null, "", here);
}

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
