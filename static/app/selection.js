// The selected rows of a live table: they stay selected when a tick replaces the rows.
//   <form data-selection="id_of_the_table" id="x">… <b data-selected> …</form>, boxes with form="x"
for (const bar of document.querySelectorAll("[data-selection]")) {
  const table = () => document.getElementById(bar.dataset.selection);
  const boxes = () => [...table().querySelectorAll(`input[form="${bar.id}"]:not([data-select-matching])`)];
  const matching = () => table().querySelector("[data-select-matching]:checked");
  const all = bar.querySelector("[data-select-all]");
  const chosen = new Set();

  const choose = (box, isChosen) => (isChosen ? chosen.add(box.value) : chosen.delete(box.value));

  function show() {
    for (const box of boxes()) if (box.checked !== chosen.has(box.value)) box.checked = chosen.has(box.value);
    const marked = boxes().filter((box) => box.checked).length;
    const shown = Number(matching()?.dataset.selectMatching ?? marked);
    const count = bar.querySelector("[data-selected]");
    if (count.textContent !== String(shown)) count.textContent = shown; // each write calls the observer
    all.checked = marked > 0 && marked === boxes().length;
    all.indeterminate = marked > 0 && !all.checked;
    for (const button of bar.querySelectorAll("button")) button.disabled = !shown;
  }

  document.addEventListener("change", ({ target }) => {
    if (target === all) for (const box of boxes()) choose(box, all.checked);
    else if (target.matches("[data-select-matching]")) return show();
    else if (target.getAttribute("form") === bar.id) choose(target, target.checked);
    else return;
    show();
  });
  new MutationObserver(show).observe(table().parentElement, { childList: true, subtree: true, attributes: true,
    attributeFilter: ["checked", "value"] });
  show();
}
