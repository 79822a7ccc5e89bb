"use strict";
(function () {
  const root = document.documentElement;
  root.classList.add("js");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function theme() { return root.dataset.theme || (dark.matches ? "dark" : "light"); }
  document.getElementById("theme").addEventListener("click", function () {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
  });

  const list = document.getElementById("list");
  if (!list) return;
  const pick = document.getElementById("pick"), find = document.getElementById("find");
  const count = document.getElementById("count");
  const all = Array.from(list.children);
  const texts = new Map();
  function text(node) {
    if (!texts.has(node)) texts.set(node, node.textContent.toLowerCase());
    return texts.get(node);
  }
  function show() {
    const kind = pick.value, words = find.value.trim().toLowerCase();
    let n = 0;
    for (const node of all) {
      const kinds = node.dataset.kinds.split(" ");
      const good = (!kind || kinds.includes(kind)) && (!words || text(node).includes(words));
      node.classList.toggle("gone", !good);
      n += good;
    }
    count.textContent = n + " of " + all.length + " shown";
  }
  document.addEventListener("click", function (event) {
    const link = event.target.closest("[data-pick]");
    if (!link) return;
    event.preventDefault();
    pick.value = link.dataset.pick;
    find.value = "";
    show();
    document.getElementById("examples").scrollIntoView();
  });
  pick.addEventListener("change", show);
  find.addEventListener("input", show);
  pick.form.addEventListener("submit", function (event) { event.preventDefault(); });
  show();
})();
