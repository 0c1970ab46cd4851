// On a phone a row of a `.card-table` is a small block instead of a line that leaves the screen:
// each cell with its column's heading in front (tables.css). The headings are copied here, whenever
// tables arrive or change; what CSS takes from a table that is no table any more (its roles) too. On a
// wider window a table that is wider than its card scrolls. Runs before the first paint and labels rows
// as they are parsed, so that none moves. Sizes are read where the browser has just computed them: to ask
// for them at each change would have it lay out the page again.
(() => {
  const phone = window.matchMedia("(max-width: 767.98px)");

  function put(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }

  function label(table) {
    const titles = [...table.querySelectorAll("thead th")].map((th) =>
      th.querySelector(".visually-hidden") ? "" : th.textContent.trim(),
    );
    put(table, "role", "table");
    for (const group of table.querySelectorAll("thead, tbody")) put(group, "role", "rowgroup");
    for (const th of table.querySelectorAll("thead th")) put(th, "role", "columnheader");
    for (const row of table.rows) {
      put(row, "role", "row");
      if (row.parentElement.tagName === "THEAD") continue;
      [...row.cells].forEach((cell, i) => {
        put(cell, "role", "cell");
        put(cell, "data-label", cell.colSpan > 1 ? "" : (titles[i] ?? ""));
      });
    }
    if (!table.classList.contains("is-stacked")) table.classList.add("is-stacked");
  }

  // Tables and their boxes whose size is watched.
  const watched = new WeakSet();
  const sizes = new ResizeObserver((entries) => {
    const boxes = entries.map((entry) => entry.target.closest(".table-responsive"));
    new Set(boxes).forEach((box) => box && reach(box)); // none around a table that a swap has removed
  });

  function watch(element) {
    if (watched.has(element)) return;
    watched.add(element);
    sizes.observe(element);
  }

  // A box that scrolls and contains nothing that takes the focus takes it itself, so that the keyboard
  // can scroll it.
  function reach(box) {
    if (box.scrollWidth <= box.clientWidth || box.querySelector("a, button, input, select, summary")) {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
      return;
    }
    put(box, "tabindex", "0");
    put(box, "role", "region");
    put(box, "aria-label", box.closest(".card")?.querySelector(".card-title")?.textContent.trim() ?? document.title);
  }

  // A swap takes the attributes away again; a box that is watched anew is looked at once more.
  function watchAgain(changes) {
    for (const { type, attributeName, target } of changes) {
      if (type !== "attributes" || attributeName !== "tabindex" || !watched.has(target)) continue;
      sizes.unobserve(target);
      sizes.observe(target);
    }
  }

  function labelAll() {
    if (phone.matches) document.querySelectorAll(".card-table").forEach(label);
    else document.querySelectorAll(".is-stacked").forEach((table) => table.classList.remove("is-stacked"));
    document.querySelectorAll(".table-responsive, .table-responsive > table").forEach(watch);
  }

  document.addEventListener("DOMContentLoaded", labelAll);
  window.addEventListener("resize", labelAll);
  new MutationObserver((changes) => {
    watchAgain(changes);
    labelAll();
  }).observe(document.documentElement, {
    childList: true,
    subtree: true,
    attributeFilter: ["class", "data-label", "tabindex"],
  });
})();
