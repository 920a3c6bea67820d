// What lies above the page: menus, dialogs, the drawer, tooltips, toasts. Each closes with Escape and gives the focus back.

import { announce, byId, h, icon, replace } from "./dom.js";

const overlay = () => byId("overlay");

/** @type {(text: string) => void} */
export function toast(text) {
  const element = h("div", { class: "toast" }, icon("check"), text);
  document.querySelectorAll(".toast").forEach((old) => old.remove());
  overlay().append(element);
  announce(text);
  setTimeout(() => element.remove(), 2600);
}

/** @type {(text: string, words: string) => Promise<void>} */
export async function copy(text, words) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "visually-hidden", value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy"); // plain http on a server's address has no clipboard API
    area.remove();
  }
  toast(words);
}

/** @type {(() => void) | null} */
let openMenu = null;

export function closeMenu() {
  openMenu?.();
  openMenu = null;
}

// A menu under its button; `content` is made anew each time it opens.
/** @type {(button: HTMLElement, content: any) => HTMLElement} */
export function menu(button, content) {
  closeMenu();
  const element = h("div", { class: "menu", role: "dialog" }, content);
  overlay().append(element);
  const box = button.getBoundingClientRect();
  const left = Math.min(box.left, innerWidth - element.offsetWidth - 12);
  const below = box.bottom + 6;
  const top = below + element.offsetHeight > innerHeight - 8 ? Math.max(8, box.top - 6 - element.offsetHeight) : below;
  element.style.left = `${Math.max(12, left)}px`;
  element.style.top = `${top}px`;
  button.setAttribute("aria-expanded", "true");
  const outside = (/** @type {any} */ event) => {
    if (!element.contains(event.target) && !button.contains(event.target)) closeMenu();
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") {
      closeMenu();
      button.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      /** @type {HTMLElement[]} */
      const items = Array.from(element.querySelectorAll("button, a, input"));
      const step = event.key === "ArrowDown" ? 1 : -1;
      items[(items.findIndex((item) => item === document.activeElement) + step + items.length) % items.length]?.focus();
      event.preventDefault();
    }
  };
  setTimeout(() => document.addEventListener("pointerdown", outside));
  document.addEventListener("keydown", keys);
  /** @type {HTMLElement | null} */ (element.querySelector("button, a, input"))?.focus({ preventScroll: true });
  openMenu = () => {
    element.remove();
    button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", outside);
    document.removeEventListener("keydown", keys);
  };
  return element;
}

/** @type {(title: string, body: any, footer: (close: () => void) => any) => HTMLDialogElement} */
export function dialog(title, body, footer) {
  const close = () => element.close();
  /** @type {HTMLDialogElement} */
  const element = h(
    "dialog",
    { "aria-label": title, onclose: () => element.remove() },
    h(
      "header",
      null,
      h("h2", null, title),
      h("button", { class: "button quiet square", "aria-label": "Close", onclick: close }, icon("close")),
    ),
    h("div", { class: "scroll" }, body),
    h("footer", null, footer(close)),
  );
  document.body.append(element);
  element.showModal();
  return element;
}

/** @type {(() => void) | null} */
let closeDrawerNow = null;

export function closeDrawer() {
  closeDrawerNow?.();
}

/** @type {(title: string, subtitle: string, body: any, footer?: any) => HTMLElement} */
export function drawer(title, subtitle, body, footer) {
  closeDrawer();
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const element = h(
    "aside",
    { class: "drawer", role: "dialog", "aria-label": title, tabindex: "-1" },
    h(
      "header",
      null,
      h("div", null, h("h2", null, title), h("p", null, subtitle)),
      h("button", { class: "button quiet square", "aria-label": "Close", onclick: () => closeDrawer() }, icon("close")),
    ),
    h("div", { class: "scroll" }, body),
    footer ? h("footer", null, footer) : null,
  );
  const keys = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && closeDrawer();
  document.addEventListener("keydown", keys);
  overlay().append(element);
  element.focus({ preventScroll: true });
  closeDrawerNow = () => {
    element.remove();
    document.removeEventListener("keydown", keys);
    closeDrawerNow = null;
    before?.isConnected && before.focus({ preventScroll: true });
  };
  return element;
}

/** @type {() => HTMLElement | null} */
const shownTip = () => document.querySelector(".tip");
const tip = () => shownTip() ?? overlay().appendChild(h("div", { class: "tip", hidden: true }));

/** @type {(at: { clientX: number, clientY: number }, content: any) => void} */
export function showTip(at, content) {
  const element = replace(tip(), content);
  element.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = element;
  const right = at.clientX + 16 + width > innerWidth;
  element.style.left = `${Math.max(6, right ? at.clientX - 14 - width : at.clientX + 16)}px`;
  element.style.top = `${Math.max(6, Math.min(at.clientY + 14, innerHeight - height - 8))}px`;
}

export function hideTip() {
  const element = shownTip();
  if (element) element.hidden = true;
}
