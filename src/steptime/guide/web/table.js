// Tables that sort: columns are [title, value(row), cell(row), class].

import { h, replace } from "./dom.js";

/** @type {<R>(columns: TableColumn<R>[], rows: R[], caption: string) => HTMLElement} */
export function dataTable(columns, rows, caption) {
  let order = { at: -1, down: false };
  const body = h("tbody");
  const heads = columns.map(([title, , , kind], i) =>
    h("th", { class: kind ?? null, scope: "col" }, title ? h("button", { onclick: () => sort(i) }, title) : ""),
  );
  /** @type {(list: any[]) => void} */
  const fill = (list) =>
    replace(
      body,
      list.map((row) =>
        h(
          "tr",
          null,
          columns.map(([, value, cell, kind]) => h("td", { class: kind ?? null }, cell ? cell(row) : value(row))),
        ),
      ),
    );
  /** @type {(i: number) => void} */
  const sort = (i) => {
    order = { at: i, down: order.at === i ? !order.down : columns[i][3] === "r" };
    const value = columns[i][1];
    const sign = order.down ? -1 : 1;
    heads.forEach((head, j) =>
      j === i ? head.setAttribute("aria-sort", order.down ? "descending" : "ascending") : head.removeAttribute("aria-sort"),
    );
    fill([...rows].sort((a, b) => sign * compare(value(a), value(b))));
  };
  fill(rows);
  return h(
    "div",
    { class: "table-wrap", tabindex: "0" },
    h("table", null, h("caption", { class: "visually-hidden" }, caption), h("thead", null, h("tr", null, heads)), body),
  );
}

// What is missing comes last; numbers before words.
/** @type {(a: any, b: any) => number} */
function compare(a, b) {
  const [x, y] = [a ?? "", b ?? ""];
  if (typeof x === "number" && typeof y === "number") return x - y;
  if (typeof x === "number") return -1;
  if (typeof y === "number") return 1;
  return String(x).localeCompare(String(y), "en", { numeric: true });
}
