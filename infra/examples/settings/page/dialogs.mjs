// Dialogs. Each is an element of its own, and leaves nothing behind when it is closed.
import { el, foreign, Refused } from "./parts.mjs";
import texts from "./texts.mjs";

let made = 0; // for ids

/** Is an id that nothing else has. */
export const fresh = () => `made-${++made}`;

/**
 * Opens a dialog until it is closed. The browser keeps the focus in it, and closes it by Escape.
 * @param {string} title
 * @param {(close: () => void) => (Node | null)[]} content
 */
export function open(title, content) {
  const id = fresh();
  return /** @type {Promise<void>} */ (new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { "aria-labelledby": id, onclose: () => {
      dialog.remove();
      resolve();
    } }));
    dialog.append(el("h2", { id }, title), .../** @type {Node[]} */ (content(() => dialog.close()).filter(Boolean)));
    document.querySelector("main")?.append(dialog);
    dialog.showModal();
  }));
}

/**
 * Opens a form. What submit returns is what the promise gives; undefined after Cancel. A refusal keeps it open, with
 * the faults beside their fields.
 * @param {{ title: string, about?: string, button: string, danger?: boolean, fields: HTMLElement[] }} shown
 * @param {(given: FormData) => Promise<any>} submit
 */
export async function openForm({ title, about, button, danger, fields }, submit) {
  /** @type {any} */
  let result;
  let sent = Promise.resolve();
  await open(title, (close) => {
    const fault = el("p", { role: "alert", class: "fault" });
    const go = el("button", { class: danger ? "danger" : "primary" }, button);
    const cancel = el("button", { type: "button", autofocus: danger, onclick: close }, texts.cancel);
    const send = async () => {
      clear(form);
      try {
        result = (await submit(new FormData(form))) ?? {};
        close();
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        fault.textContent = error.message;
        mark(form, error.faults);
      } finally {
        go.ariaDisabled = null;
      }
    };
    /** @param {Event} event */
    const onsubmit = (event) => {
      event.preventDefault();
      if (go.ariaDisabled === "true") return;
      go.ariaDisabled = "true";
      sent = send();
    };
    const form = /** @type {HTMLFormElement} */ (el("form", { novalidate: true, onsubmit },
      about ? el("p", {}, foreign(about)) : null, ...fields, fault,
      el("div", { class: "acts" }, ...(danger ? [cancel, go] : [go, cancel]))));
    return [form];
  });
  await sent; // if it was closed meanwhile, it may be done all the same
  return result;
}

/** @param {string} name @param {string} label @param {HTMLElement} input @param {string} [hint] */
export function field(name, label, input, hint = "") {
  const id = fresh();
  input.id = id;
  input.setAttribute("name", name);
  input.setAttribute("aria-describedby", `${id}-hint ${id}-fault`);
  return el("div", { class: "field", "data-field": name }, el("label", { for: id }, label),
    el("span", { id: `${id}-hint`, class: "hint" }, hint), input, el("span", { id: `${id}-fault`, class: "fault" }));
}

/** @param {HTMLElement} form */
function clear(form) {
  for (const fault of form.querySelectorAll(".fault")) fault.textContent = "";
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

/** Shows each fault at its field, and moves to the first. @param {HTMLElement} form @param {any[]} faults */
function mark(form, faults) {
  let first = null;
  for (const { pointer, detail } of faults) {
    const name = (pointer ?? "").split("/")[1] ?? "";
    const at = form.querySelector(`[data-field="${CSS.escape(name)}"]`);
    const input = at?.querySelector("input, select");
    const fault = at?.querySelector(".fault");
    if (!input || !fault) continue;
    fault.textContent = [fault.textContent, detail].filter(Boolean).join("; ");
    input.setAttribute("aria-invalid", "true");
    first ??= /** @type {HTMLElement} */ (input);
  }
  first?.focus();
}
