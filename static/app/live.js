// The page's side of the live socket (console/live/websocket_consumer.py). htmx swaps in the HTML that
// it pushes. This module acknowledges each push and sends the event "tick" to the body. If nothing is
// pushed any more, it loads the status of the samples (the view live-status) to say why. A hidden tab
// has no socket and loads nothing; when it is shown, it connects and gets the newest tick at once.
const NOT_ALLOWED = 4403; // console/live/websocket_consumer.py
const CONNECTING_MS = 3000;

document.addEventListener("htmx:before:request", (event) => {
  if (document.hidden && event.detail.ctx?.sourceEvent?.type === "every") event.preventDefault();
});

// Looked up each time: a search replaces the element by one with another URL of the socket.
const connection = () => document.getElementById("live");

if (connection()) {
  const interval = Number(connection().dataset.intervalMs || 5000);
  const limit = 2 * interval + 1500; // as console/live/sample_status.py
  const dot = () => document.querySelector("#live-status > .status-dot-live");
  let sampledAt = "";
  let freshAt = Date.now(); // when the figures shown were sampled, by the clock of the browser
  let askedAt = 0;
  let shownAt = 0;

  // Takes the age of the sample from the server, since its clock and the browser's may differ.
  function noteSampleTime() {
    const { atMs, ageMs } = dot()?.dataset ?? {};
    if (!atMs || atMs === sampledAt) return;
    sampledAt = atMs;
    freshAt = Date.now() - Number(ageMs || 0);
  }

  function sayStale() {
    const mark = dot();
    const text = document.querySelector("#live-status > .status-text");
    if (!mark || !text || !sampledAt) return;
    const time = `${new Date(Number(sampledAt)).toISOString().slice(11, 19)} UTC`;
    mark.className = "status-dot-live is-stale";
    const dotInMenu = document.getElementById("switcher-dot");
    if (dotInMenu) dotInMenu.className = "switcher-dot is-stale";
    text.textContent = `${mark.dataset.stale} ${time}`;
    const said = document.querySelector("#live-banner > .alert:not(#live-lost)");
    const lost = document.getElementById("live-lost");
    if (!lost) return;
    lost.querySelector("[data-since]").textContent = time;
    lost.hidden = Boolean(said);
  }

  // Replaces status line and banners by those of the server.
  function showStatus(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const id of ["live-status", "live-banner", "health"]) {
      const found = page.getElementById(id);
      const shown = document.getElementById(id);
      if (found && shown) shown.replaceChildren(...found.childNodes);
    }
  }

  async function loadStatus() {
    askedAt = Date.now();
    const url = document.getElementById("live-lost")?.dataset.statusUrl;
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(interval) });
      // Signed out, or the cluster was removed: the page says which when it is loaded again.
      if (response.redirected || [403, 404].includes(response.status)) location.reload();
      else if (response.ok && isLate()) showStatus(await response.text());
    } catch {
      // The console does not answer: see below.
    }
    if (isLate() && ["ok", "partial", "stale"].includes(dot()?.dataset.state)) sayStale();
  }

  const isLate = () => Date.now() - Math.max(freshAt + limit, shownAt + CONNECTING_MS) >= 0;

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) shownAt = Date.now();
  });
  // htmx closes the socket of a tab that is hidden. These two keep it from opening one in such a tab.
  document.addEventListener("htmx:before:ws:connection", (event) => {
    if (document.hidden) event.preventDefault();
  });
  document.addEventListener("htmx:after:ws:connection", (event) => {
    if (document.hidden) event.detail.connection.socket.close();
  });
  document.addEventListener("htmx:ws:close", (event) => {
    if (event.detail.code === NOT_ALLOWED) location.reload(); // the page says why
  });

  document.addEventListener("htmx:after:ws:message", () => {
    noteSampleTime();
    // The acknowledgement: the server sends the next tick only after it.
    const path = connection()?.getAttribute("hx-ws:connect") ?? "";
    htmx.ext.ws.getRegistry().get(path)?.socket?.send("drawn");
    document.body.dispatchEvent(new CustomEvent("tick"));
  });
  noteSampleTime();
  setInterval(() => {
    if (document.hidden || !isLate()) return;
    if (["ok", "partial"].includes(dot()?.dataset.state)) sayStale();
    if (Date.now() - askedAt >= interval) loadStatus();
  }, 1000);
}
