// Shows the results of a search while it runs. The search ends when this page is closed.
//   <section data-record-search="URL" data-failed="text"> with parts progress, stop, error,
//   pause and waiting (of a followed search), and a table. console/records/search_stream.py describes
//   the lines of the response.
import { nodes, tableRow } from "./fragment.js";

const root = document.querySelector("[data-record-search]");
if (root) run();

async function run() {
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const body = root.querySelector("tbody");
  const isOldestFirst = new URLSearchParams(location.search).get("order") === "oldest";
  const controller = new AbortController();
  let end = "";
  const insertRow = (row) => {
    insert(body, row, isOldestFirst);
    if (body.rows.length > root.dataset.most) body.lastElementChild.remove();
  };
  const pause = part("pause") && pausing(part, insertRow);
  part("stop").addEventListener("click", () => {
    controller.abort();
    part("state")?.replaceChildren(part("stop").dataset.stopped);
    part("left")?.remove();
  });
  const fail = (text) => {
    part("starting")?.remove();
    part("error").textContent = text;
    part("error").hidden = false;
  };
  const show = (line) => {
    if (line.error) fail(line.error);
    if (line.progress) part("progress").replaceChildren(...nodes(line.progress));
    if (line.end) end = line.end;
    for (const row of line.rows ?? []) (pause ?? insertRow)(row);
  };
  try {
    const response = await fetch(root.dataset.recordSearch, { signal: controller.signal });
    if (!/json/.test(response.headers.get("Content-Type") ?? "")) throw new Error("no results");
    await eachLine(response.body, show);
    if (!end && part("error").hidden) fail(root.dataset.failed);
  } catch (error) {
    if (error.name !== "AbortError") fail(root.dataset.failed);
  } finally {
    part("stop").hidden = true;
  }
}

// New records wait while the table is paused, at most as many as the table has.
function pausing(part, insertRow) {
  const button = part("pause");
  const count = part("waiting");
  let isPaused = false;
  let waiting = [];
  const showCount = () => {
    count.hidden = !isPaused;
    count.textContent = count.dataset.text.replace("{n}", waiting.length);
  };
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.setAttribute("aria-pressed", String(isPaused));
    button.textContent = isPaused ? button.dataset.paused : button.dataset.running;
    for (const row of waiting) insertRow(row);
    waiting = [];
    showCount();
  });
  return (row) => {
    if (!isPaused) return insertRow(row);
    waiting.push(row);
    if (waiting.length > root.dataset.most) waiting.shift();
    showCount();
  };
}

async function eachLine(stream, show) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) show(JSON.parse(line));
  }
  if (rest) show(JSON.parse(rest));
}

// Partitions are searched in turns, so a match may belong above others.
function insert(body, row, isOldestFirst) {
  const element = tableRow(row.html);
  element.dataset.time = row.time;
  let after = body.lastElementChild;
  const isLater = (other) => (isOldestFirst ? other > row.time : other < row.time);
  while (after && isLater(Number(after.dataset.time))) after = after.previousElementSibling;
  if (after) after.after(element);
  else body.prepend(element);
}
