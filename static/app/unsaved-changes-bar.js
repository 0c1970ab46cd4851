// The bar below a form of settings that lists those that are changed and not saved yet, with Discard and
// Review.
//   <form data-unsaved-changes><div data-setting="x">field x, hidden field "opened:x", box "default:x"</div>…
//   <div data-unsaved-changes-bar hidden data-none="…" data-one="…" data-many="… {n} …" data-default="…">
// Without JavaScript the bar is hidden and the form's plain buttons stay.
for (const form of document.querySelectorAll("[data-unsaved-changes]")) {
  const bar = form.querySelector("[data-unsaved-changes-bar]");
  const rows = [...form.querySelectorAll("[data-setting]")].map((row) => {
    const name = row.dataset.setting;
    return { row, name, field: form.elements[name], opened: form.elements[`opened:${name}`].value,
      box: form.elements[`default:${name}`], revert: row.querySelector("[data-revert]") };
  });
  const isChanged = ({ field, opened, box }) => box?.checked || field.value !== opened;
  const text = (n) => (n === 1 ? bar.dataset.one : bar.dataset.many.replace("{n}", n));

  function entry({ name, field, box }) {
    const link = document.createElement("a");
    link.href = `#${field.id}`;
    const value = document.createElement("b");
    value.textContent = box?.checked ? bar.dataset.default : field.value || "—";
    link.append(name, " ", value);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }

  function update() {
    const changed = rows.filter(isChanged);
    for (const one of rows) {
      one.row.classList.toggle("is-changed", changed.includes(one));
      one.revert.hidden = !changed.includes(one);
    }
    const count = bar.querySelector("[data-unsaved-changes-count]");
    count.textContent = changed.length ? text(changed.length) : bar.dataset.none;
    bar.querySelector("[data-unsaved-changes-list]").replaceChildren(...changed.map(entry));
    for (const button of bar.querySelectorAll("button")) button.disabled = !changed.length;
  }

  function restore(one) {
    one.field.value = one.opened;
    if (one.box) one.box.checked = false;
    one.field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  form.addEventListener("input", update);
  form.addEventListener("change", update);
  form.addEventListener("click", (event) => {
    const one = rows.find(({ revert }) => revert.contains(event.target));
    if (one) restore(one);
    if (event.target.closest("[data-unsaved-changes-discard]")) rows.forEach(restore);
  });
  bar.hidden = false;
  form.querySelector("[data-unsaved-changes-plain]").hidden = true;
  update();
}
