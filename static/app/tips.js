// Tooltips of the parts of a drawing, for the pointer and the keyboard, in place of the browser's.
//   <svg data-tips><a …><title>lines of text</title>…</a><g …><title>…</title>…</g></svg>
// Without JavaScript the browser shows the title.
const tip = document.createElement("div");
tip.className = "dropdown-menu show tip";
tip.setAttribute("role", "tooltip");
tip.id = "tip";
tip.hidden = true;
document.querySelector("main").append(tip);
let shown = null; // the part whose tooltip it is

function show(part, x) {
  hide();
  shown = part;
  const { width } = document.documentElement.getBoundingClientRect();
  const box = part.getBoundingClientRect();
  tip.textContent = part.dataset.tip;
  tip.hidden = false;
  part.setAttribute("aria-describedby", tip.id);
  const left = Math.max(8, Math.min(x ?? box.left, width - tip.offsetWidth - 8));
  const above = box.top - tip.offsetHeight - 6;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 0 ? above : box.bottom + 6}px`;
}

function hide() {
  tip.hidden = true;
  shown?.removeAttribute("aria-describedby");
  shown = null;
}

for (const title of document.querySelectorAll("[data-tips] title")) {
  const part = title.parentElement;
  part.dataset.tip = title.textContent;
  if (part.localName === "g") {
    part.setAttribute("tabindex", "0");
    part.setAttribute("role", "img");
  }
  title.remove();
  const drawn = part.textContent.replace(/\s+/g, " ").trim();
  const [first] = part.dataset.tip.split("\n");
  part.setAttribute("aria-label", [drawn, first].filter(Boolean).join(", "));
  part.addEventListener("pointerenter", (event) => show(part, event.clientX));
  part.addEventListener("pointerleave", hide);
  part.addEventListener("focus", () => part.matches(":focus-visible") && show(part));
  part.addEventListener("blur", hide);
}
document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
document.addEventListener("scroll", hide, { capture: true, passive: true });
