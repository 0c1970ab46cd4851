// What the page does about ticks: tells whoever listens ("tick" on the body), and says when they
// stop coming. The fragments themselves are swapped in by htmx as they arrive.
const connection = document.getElementById("live");

if (connection) {
  const limit = Math.max(20000, 4 * Number(connection.dataset.intervalMs || 5000));
  let heardAt = Date.now();

  document.addEventListener("htmx:after:ws:message", () => {
    heardAt = Date.now();
    // The server sends the next tick only to a browser that has drawn the last.
    const path = connection.getAttribute("hx-ws:connect");
    htmx.ext.ws.getRegistry().get(path)?.socket?.send("drawn");
    document.body.dispatchEvent(new CustomEvent("tick"));
  });
  setInterval(() => {
    const lost = document.getElementById("live-lost");
    const said = document.querySelector("#live-banner > .alert:not(#live-lost)");
    if (lost) lost.hidden = Boolean(said) || document.hidden || Date.now() - heardAt < limit;
  }, 1000);
}
