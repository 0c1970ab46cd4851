// The palette: a dialog with a field and a list of what the server finds. Tab shows the actions on
// the selected row in place of the list; Escape goes back, then closes. Enter opens what belongs to
// the whole text, also if it comes later.
import { nodes } from "./fragment.js";

const palette = document.getElementById("palette");
const field = document.getElementById("palette-text");
const list = document.getElementById("palette-list");
const said = document.getElementById("palette-said");
const DELAY_MS = 90;
let timer = 0;
let request = null;
let under = null; // the list below the actions that are shown
let found = null; // the text whose results are shown
let opens = false; // Enter was pressed before they had come

const options = () => [...list.querySelectorAll('[role="option"]')];
const selected = () => list.querySelector('[aria-selected="true"]');

function select(option) {
  selected()?.setAttribute("aria-selected", "false");
  field.removeAttribute("aria-activedescendant");
  if (!option) return;
  option.setAttribute("aria-selected", "true");
  field.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function number() {
  options().forEach((option, index) => (option.id = `palette-option-${index}`));
}

function move(step) {
  const all = options();
  if (all.length) select(all[(all.indexOf(selected()) + step + all.length) % all.length]);
}

async function find() {
  request?.abort();
  request = new AbortController();
  const { signal } = request;
  const text = field.value;
  const url = `${palette.dataset.url}&q=${encodeURIComponent(text)}`;
  try {
    const response = await fetch(url, { signal, headers: { "HX-Request": "true" } });
    if ([401, 403].includes(response.status)) return location.reload();
    if (!response.ok) throw new Error("no results");
    const html = await response.text();
    if (signal.aborted) return;
    list.replaceChildren(...nodes(html));
    under = null;
    found = text;
    number();
    select(options()[0]);
    if (opens && found === field.value) follow(selected());
    said.textContent = [...list.querySelectorAll(".palette-title")].map((each) => each.textContent).join(". ");
  } catch (error) {
    if (error.name !== "AbortError") said.textContent = list.textContent = palette.dataset.failed;
  }
}

function openWhenFound() {
  opens = true;
  clearTimeout(timer);
  find();
}

function follow(option) {
  opens = false;
  if (option) location.assign(option.href);
}

function showActions() {
  const template = selected()?.querySelector("template");
  if (under || !template) return;
  under = { nodes: [...list.childNodes], option: selected() };
  const title = document.createElement("p");
  title.className = "palette-title";
  title.setAttribute("role", "presentation");
  title.textContent = template.dataset.name;
  list.replaceChildren(title, template.content.cloneNode(true));
  number();
  select(options()[0]);
}

function back() {
  const { nodes, option } = under;
  under = null;
  list.replaceChildren(...nodes);
  number();
  select(option);
}

export function open() {
  if (document.querySelector("dialog[open]")) return;
  field.value = "";
  found = null;
  list.replaceChildren();
  palette.showModal();
  find();
}

field.addEventListener("input", () => {
  opens = false;
  clearTimeout(timer);
  timer = setTimeout(find, DELAY_MS);
});
palette.addEventListener("keydown", (event) => {
  const isField = event.target === field;
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else if (event.key === "Tab" && !event.shiftKey && isField && selected()?.querySelector("template")) showActions();
  else if (event.key === "Tab" && event.shiftKey && under) back();
  else if (event.key === "Escape" && under) back();
  else if (event.key === "Enter" && isField && found !== field.value && !event.ctrlKey && !event.metaKey) openWhenFound();
  else if (event.key === "Enter" && isField && selected()) {
    if (event.ctrlKey || event.metaKey) window.open(selected().href, "_blank", "noopener");
    else follow(selected());
  } else return;
  event.preventDefault();
});
palette.addEventListener("close", () => (opens = false));
palette.addEventListener("click", (event) => {
  const outside = event.target === palette;
  if (outside || event.target.closest("[data-palette-close]")) palette.close();
});
