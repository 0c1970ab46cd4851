// Keys of every page: "/" and Ctrl-K open the command palette, "g" and a letter open a page, "?" lists them.
// Not while someone types.
import { open } from "./command-palette.js";

const keys = document.getElementById("keys");
const AFTER_G_MS = 1500;
let gAt = -AFTER_G_MS;

const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  const withControl = event.ctrlKey || event.metaKey;
  if (withControl && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    return open();
  }
  if (withControl || event.altKey || isTyping(event.target)) return;
  const isAfterG = event.timeStamp - gAt < AFTER_G_MS;
  gAt = -AFTER_G_MS;
  if (event.key === "Escape" || document.querySelector("#palette[open]")) return;
  const link = isAfterG && /^[a-z]$/.test(event.key) && keys.querySelector(`[data-go="${event.key}"]`);
  if (link) location.assign(link.href);
  else if (event.key === "g") gAt = event.timeStamp;
  else if (event.key === "/") open();
  else if (event.key === "?" && !keys.open) keys.showModal();
  else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (event.target === keys) keys.close();
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (isPlain && event.target.closest("[data-find]")) {
    event.preventDefault();
    open();
  }
});
