// Says what is wrong with an expression while it is typed.
//   <form data-check-expression="URL"> has the field `expression`; the URL answers {"error": "text"}.
const WAIT_MS = 300;
const form = document.querySelector("[data-check-expression]");
const input = form?.elements.expression;
let timer = 0;
let loading = null;
input?.addEventListener("input", () => {
  clearTimeout(timer);
  loading?.abort();
  timer = setTimeout(check, WAIT_MS);
});

async function check() {
  loading = new AbortController();
  const query = new URLSearchParams({ expression: input.value });
  try {
    const response = await fetch(`${form.dataset.checkExpression}?${query}`, { signal: loading.signal });
    show((await response.json()).error);
  } catch {
    show(""); // the server checks it again when the search starts
  }
}

function show(text) {
  const field = input.closest(".field");
  let note = field.querySelector(".invalid-feedback");
  if (!note) {
    note = document.createElement("div");
    note.className = "invalid-feedback d-block";
    note.setAttribute("role", "status");
    field.append(note);
  }
  note.textContent = text;
  input.classList.toggle("is-invalid", Boolean(text));
}
