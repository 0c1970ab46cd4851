// The command palette: a dialog with a field and a list of what the server finds. Tab shows the actions on
// the selected row in place of the list; Escape goes back, then closes. Enter opens the selected row;
// if the results for the text have not come yet, it opens the first of them when they come.
import { nodes } from "./fragment.js";

const palette = document.getElementById("palette");
const field = document.getElementById("palette-text");
const list = document.getElementById("palette-list");
const said = document.getElementById("palette-said");
const DELAY_MS = 90;
let timer = 0;
let request = null;
let replaced = null; // by the actions on a row: the list and its selected row
let foundText = null; // the text whose results are shown
let opensFirst = false; // Enter was pressed before the results came

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

function numberOptions() {
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
    replaced = null;
    foundText = text;
    numberOptions();
    select(options()[0]);
    if (opensFirst && foundText === field.value) follow(selected());
    said.textContent = [...list.querySelectorAll(".palette-title")].map((each) => each.textContent).join(". ");
  } catch (error) {
    if (error.name !== "AbortError") said.textContent = list.textContent = palette.dataset.failed;
  }
}

function openWhenFound() {
  opensFirst = true;
  clearTimeout(timer);
  find();
}

function follow(option) {
  opensFirst = false;
  if (option) location.assign(option.href);
}

function showActions() {
  const template = selected()?.querySelector("template");
  if (replaced || !template) return;
  replaced = { nodes: [...list.childNodes], option: selected() };
  const title = document.createElement("p");
  title.className = "palette-title";
  title.setAttribute("role", "presentation");
  title.textContent = template.dataset.name;
  list.replaceChildren(title, template.content.cloneNode(true));
  numberOptions();
  select(options()[0]);
}

function back() {
  const { nodes, option } = replaced;
  replaced = null;
  list.replaceChildren(...nodes);
  numberOptions();
  select(option);
}

export function open() {
  if (document.querySelector("dialog[open]")) return;
  field.value = "";
  foundText = null;
  list.replaceChildren();
  palette.showModal();
  find();
}

field.addEventListener("input", () => {
  opensFirst = false;
  clearTimeout(timer);
  timer = setTimeout(find, DELAY_MS);
});
palette.addEventListener("keydown", (event) => {
  const isField = event.target === field;
  const withControl = event.ctrlKey || event.metaKey;
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else if (event.key === "Tab" && !event.shiftKey && isField && selected()?.querySelector("template")) showActions();
  else if (event.key === "Tab" && event.shiftKey && replaced) back();
  else if (event.key === "Escape" && replaced) back();
  else if (event.key === "Enter" && isField && foundText !== field.value && !withControl) openWhenFound();
  else if (event.key === "Enter" && isField && selected()) {
    if (withControl) window.open(selected().href, "_blank", "noopener");
    else follow(selected());
  } else return;
  event.preventDefault();
});
palette.addEventListener("close", () => (opensFirst = false));
palette.addEventListener("click", (event) => {
  const outside = event.target === palette;
  if (outside || event.target.closest("[data-palette-close]")) palette.close();
});
