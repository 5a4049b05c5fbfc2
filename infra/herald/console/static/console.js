// A page that nobody sees asks for nothing.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden) event.preventDefault();
});

// The next page is shown when the stack has answered: until then, this one says so.
const loading = document.getElementById("loading");
addEventListener("beforeunload", () => { loading.textContent = "Asking the stack…"; });
addEventListener("pageshow", () => { loading.textContent = ""; }); // also one that the browser had kept
