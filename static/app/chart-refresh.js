// Keeps a chart current: a node with data-src asks for its data again as ticks arrive.
const PAUSE_MS = 15000;
const askedAt = new WeakMap();

document.body.addEventListener("tick", async () => {
  for (const node of document.querySelectorAll(".chart[data-src]")) {
    if (Date.now() - (askedAt.get(node) ?? performance.timeOrigin) < PAUSE_MS) continue;
    askedAt.set(node, Date.now());
    const response = await fetch(node.dataset.src, { headers: { Accept: "application/json" } });
    if (response.ok && !response.redirected) {
      node.dispatchEvent(new CustomEvent("chart:data", { detail: await response.json() }));
    }
  }
});
