// The button of a change stays locked until the typed name is the one of the target:
//   <form data-typed-name="orders"><input name="typed"><button type="submit">…</button></form>
// Without JavaScript the button is open; the server compares the name in either case.
for (const form of document.querySelectorAll("form[data-typed-name]")) {
  const button = form.querySelector("button[type=submit]");
  const update = () => {
    button.disabled = form.elements.typed.value.trim() !== form.dataset.typedName;
  };
  form.addEventListener("input", update);
  update();
}
