// Shows one record beside the table: a click on its row opens the panel, arrows go to the next row.
// Without this script, or with Ctrl, the link in the row leads to the records from its offset on.
//   <div data-panel-host> holds the table; <tr data-panel="URL"> has the URL of the panel's HTML.
//   In the panel: data-close; data-views with buttons data-show and parts data-view; data-copy;
//   data-encoding chooses how keys or values are decoded, of this record and the next ones.
import { nodes } from "./fragment.js";

const host = document.querySelector("[data-panel-host]");
let current = null;
let loading = null;
const encodings = new URLSearchParams();
if (host) {
  host.addEventListener("click", onClick);
  host.addEventListener("change", ({ target }) => {
    if (!target.matches("[data-encoding]")) return;
    encodings.set(target.name, target.value);
    open(current, target.id);
  });
  document.addEventListener("keydown", onKey);
}

function onClick(event) {
  const target = event.target;
  if (target.closest(".panel")) return onPanelClick(target);
  const row = target.closest("tr[data-panel]");
  const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (!row || opensElsewhere || target.closest("button, input") || String(getSelection())) return;
  event.preventDefault();
  open(row);
}

async function open(row, focusedId = "") {
  mark(row);
  loading?.abort();
  loading = new AbortController();
  try {
    const url = new URL(row.dataset.panel, location.href);
    encodings.forEach((value, name) => url.searchParams.set(name, value));
    const response = await fetch(url, { signal: loading.signal });
    if (!/html/.test(response.headers.get("Content-Type") ?? "")) throw new Error("no panel");
    const content = nodes(await response.text());
    host.querySelector(".panel")?.remove();
    host.append(...content);
    host.classList.add("with-panel");
    row.scrollIntoView({ block: "nearest" });
    if (focusedId) document.getElementById(focusedId)?.focus();
  } catch (error) {
    if (error.name !== "AbortError") location.assign(row.querySelector("a").href);
  }
}

function mark(row) {
  current?.removeAttribute("aria-selected");
  current = row;
  current?.setAttribute("aria-selected", "true");
}

function close() {
  host.querySelector(".panel")?.remove();
  host.classList.remove("with-panel");
  mark(null);
}

function onPanelClick(target) {
  if (target.closest("[data-close]")) return close();
  const part = target.closest("[data-views]");
  const shown = target.closest("[data-show]");
  if (shown) {
    for (const button of part.querySelectorAll("[data-show]"))
      button.setAttribute("aria-pressed", String(button === shown));
    for (const view of part.querySelectorAll("[data-view]"))
      view.hidden = view.dataset.view !== shown.dataset.show;
  }
  const copy = target.closest("[data-copy]");
  if (copy) copyText(copy, part);
}

async function copyText(button, part) {
  const view = [...part.querySelectorAll("[data-view]")].find((each) => !each.hidden);
  const isHex = view.dataset.view === "hex";
  const source = part.querySelector(`[data-view="${isHex ? "hex" : "text"}"] pre`);
  await navigator.clipboard.writeText(source.textContent);
  const label = button.textContent;
  button.textContent = button.dataset.copy;
  setTimeout(() => (button.textContent = label), 1500);
}

function onKey(event) {
  if (!current || event.target.closest("input, select, textarea, [contenteditable]")) return;
  if (event.key === "Escape") return close();
  const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
  const row = next && current[next];
  if (!row) return;
  event.preventDefault();
  open(row);
}
