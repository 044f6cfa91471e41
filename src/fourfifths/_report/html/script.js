// Sorts tables and shows definitions; the page is complete without it.
(function () {
  "use strict";
  function amount(text) {
    var number = /-?\d[\d,]*\.?\d*/.exec(text);
    if (!number) return null;
    var value = parseFloat(number[0].replace(/,/g, ""));
    return text.trim().charAt(0) === "<" ? value - 1e-9 : value;
  }
  function sort(table, column, rising) {
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    rows.forEach(function (row, index) {
      if (!row.dataset.order) row.dataset.order = String(index);
    });
    var isName = table.tHead.rows[0].cells[column].classList.contains("name");
    rows.sort(function (first, second) {
      var a = first.cells[column].textContent, b = second.cells[column].textContent, order;
      if (isName) {
        order = a.localeCompare(b);
      } else {
        var x = amount(a), y = amount(b);
        if (x === null || y === null) return (x === null) - (y === null);
        order = x - y;
      }
      return (rising ? order : -order) || first.dataset.order - second.dataset.order;
    });
    rows.forEach(function (row) { body.appendChild(row); });
  }
  document.querySelectorAll("table").forEach(function (table) {
    if (!table.tBodies.length || table.tBodies[0].rows.length < 3) return;
    var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
    heads.forEach(function (head, column) {
      if (head.tagName !== "TH") return;
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = "\u21C5";
      button.setAttribute("aria-label", "Sort by " + head.textContent.trim());
      button.addEventListener("click", function () {
        var rising = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        sort(table, column, rising);
      });
      head.appendChild(button);
    });
  });
  var tip = null;
  function hide() {
    if (!tip) return;
    tip.owner.removeAttribute("aria-describedby");
    tip.remove();
    tip = null;
  }
  function show(event) {
    hide();
    var link = event.currentTarget;
    var term = document.getElementById(link.getAttribute("href").slice(1));
    if (!term || !term.nextElementSibling) return;
    tip = document.createElement("div");
    tip.className = "tip";
    tip.id = "definition";
    tip.setAttribute("role", "tooltip");
    tip.textContent = term.nextElementSibling.textContent;
    tip.owner = link;
    document.body.appendChild(tip);
    var box = link.getBoundingClientRect();
    var left = Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = Math.max(8, left + window.scrollX) + "px";
    tip.style.top = box.bottom + window.scrollY + 6 + "px";
    link.setAttribute("aria-describedby", "definition");
  }
  document.querySelectorAll("a.term").forEach(function (link) {
    link.addEventListener("mouseenter", show);
    link.addEventListener("focus", show);
    link.addEventListener("mouseleave", hide);
    link.addEventListener("blur", hide);
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") hide();
  });
})();
