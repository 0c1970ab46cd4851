// On a phone a row of a `.card-table` is a small block, so that it fits the screen: each cell has its
// column's heading in front (tables.css). This script copies the headings to the cells whenever tables
// arrive or change, and sets the roles of a table, which it loses when CSS changes its display. In a
// wider window a table that is wider than its card scrolls. The script runs before the first paint and
// labels rows as they are parsed, so that none moves. Sizes are read in a ResizeObserver, where the
// browser has just computed them: reading them at each change would force a layout of the page.
(() => {
  const phone = window.matchMedia("(max-width: 767.98px)");

  // Each write calls the observer below.
  function setIfNew(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }

  function label(table) {
    const titles = [...table.querySelectorAll("thead th")].map((th) =>
      th.querySelector(".visually-hidden") ? "" : th.textContent.trim(),
    );
    setIfNew(table, "role", "table");
    for (const group of table.querySelectorAll("thead, tbody")) setIfNew(group, "role", "rowgroup");
    for (const th of table.querySelectorAll("thead th")) setIfNew(th, "role", "columnheader");
    for (const row of table.rows) {
      setIfNew(row, "role", "row");
      if (row.parentElement.tagName === "THEAD") continue;
      [...row.cells].forEach((cell, i) => {
        setIfNew(cell, "role", "cell");
        setIfNew(cell, "data-label", cell.colSpan > 1 ? "" : (titles[i] ?? ""));
      });
    }
    if (!table.classList.contains("is-stacked")) table.classList.add("is-stacked");
  }

  // Tables and their boxes whose size is watched.
  const watched = new WeakSet();
  const sizes = new ResizeObserver((entries) => {
    const boxes = entries.map((entry) => entry.target.closest(".table-responsive"));
    new Set(boxes).forEach((box) => box && updateFocus(box)); // no box: a swap has removed the table
  });

  function watch(element) {
    if (watched.has(element)) return;
    watched.add(element);
    sizes.observe(element);
  }

  // A box that scrolls gets the focus itself if nothing in it can, so that the keyboard can scroll it.
  function updateFocus(box) {
    if (box.scrollWidth <= box.clientWidth || box.querySelector("a, button, input, select, summary")) {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
      return;
    }
    setIfNew(box, "tabindex", "0");
    setIfNew(box, "role", "region");
    const title = box.closest(".card")?.querySelector(".card-title");
    setIfNew(box, "aria-label", title?.textContent.trim() ?? document.title);
  }

  // A swap removes the attributes that updateFocus has set: observing the box again calls it again.
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
