/* What all live parts of the page share: the model, the rows, and how values are shown. */
const page = JSON.parse(document.getElementById("data").textContent);
const { live } = page;
const byId = (id) => document.getElementById(id);
const make = (name, text, attributes = {}) => {
  const made = Object.assign(document.createElement(name), attributes);
  if (text !== undefined) made.textContent = text;
  return made;
};
const optionsOf = (names) => names.map((name, k) => make("option", name, { value: String(k) }));
const percent = (share) => `${(100 * share).toFixed(1)}%`;
const digits = (value, count = 4) => String(Number(value.toPrecision(count)));
/** Return a bound as text that is not larger. */
const boundText = (value, count = 3) => {
  if (!(value > 0)) return "0";
  const per = 10 ** (count - 1 - Math.floor(Math.log10(value)));
  return String(Number((Math.floor(value * (1 - 1e-6) * per) / per).toPrecision(count)));
};
const noRow = (name) => `Row ${name} is not on this page.${live.edits && live.table.kept ? " One row in five is kept back, to judge edits by." : ""}`;
const nameOf = (code) => page.classes[code];
const openTab = (name) => byId(`tab-${name}`).click();

/** Return a value of a column as text. */
function valueText(value, column) {
  if (value === null || value === undefined) return "missing";
  if (value === UNKNOWN) return "another category";
  if (column.kind !== "date") return typeof value === "number" ? String(Number(value.toPrecision(9))) : `${value}`;
  const text = new Date(value * DAY).toISOString();
  return Number.isInteger(value) ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

/** Return a table of lines, the first cell of each a heading. */
function tableOf(caption, heads, lines, name) {
  const table = make("table", undefined, { className: name || "" });
  if (caption) table.append(make("caption", caption));
  if (heads.length) {
    const line = make("tr");
    line.append(...heads.map((head) => make("th", head, { scope: "col" })));
    table.append(make("thead"));
    table.tHead.append(line);
  }
  const body = make("tbody");
  for (const cells of lines) {
    const line = make("tr");
    line.append(...cells.map((cell, k) => {
      if (cell instanceof Node) return cell;
      return k === 0 ? make("th", cell, { scope: "row" }) : make("td", cell);
    }));
    body.append(line);
  }
  table.append(body);
  return table;
}

const FEW_FIELDS = 20;

/** Return the controls of all columns in a holder, of many those that matter most before a fold. */
function fieldsIn(holder, prefix, changed, box) {
  const lines = [];
  const controls = live.document.columns.map((column, j) => {
    if (column.kind === "unused") return null;
    const { name, low, high, step, whole } = live.ends[j];
    const line = make("div", undefined, { className: "field" });
    const id = `${prefix}-${j}`;
    line.append(make("label", name, { htmlFor: id }));
    let read;
    let write;
    if (column.categories) {
      const select = make("select", undefined, { id });
      select.append(...optionsOf(column.categories.map(String)), make("option", "missing", { value: "" }),
        make("option", "another category", { value: "other" }));
      read = () => (select.value === "" ? null : select.value === "other" ? UNKNOWN : column.categories[Number(select.value)]);
      write = (value) => {
        const place = column.categories.indexOf(value);
        select.value = value === null ? "" : place < 0 ? "other" : String(place);
      };
      select.addEventListener("change", changed);
      line.append(select);
    } else {
      const isDay = column.kind === "date" && whole !== undefined && Number.isInteger(low);
      const input = make("input", undefined, { id, type: isDay ? "date" : "number", step: isDay ? "1" : "any" });
      const slider = make("input", undefined, { type: "range", min: String(low), max: String(high) });
      slider.step = step > 0 ? String(step) : "any";
      slider.setAttribute("aria-label", `${name}, slider`);
      const asText = (value) => (isDay ? new Date(Math.floor(value) * DAY).toISOString().slice(0, 10) : String(value));
      read = () => (input.value === "" ? null : isDay ? days(input.value) : Number(input.value));
      write = (value) => {
        input.value = value === null ? "" : asText(value);
        if (value !== null) slider.value = String(value);
      };
      slider.addEventListener("input", () => { input.value = asText(Number(Number(slider.value).toPrecision(6))); changed(); });
      input.addEventListener("input", () => { if (read() !== null) slider.value = String(read()); changed(); });
      line.append(input, slider);
    }
    let mark = null;
    if (box) {
      mark = make("input", undefined, { type: "checkbox", checked: box.checked });
      mark.addEventListener("change", () => box.changed(column.name, mark.checked));
      const label = make("label", undefined, { className: "box" });
      label.append(mark, box.text, make("span", ` ${name}`, { className: "unseen-text" }));
      line.append(label);
    }
    lines[j] = line;
    return { read, write, mark, name };
  });
  const order = live.order.filter((j) => lines[j]);
  const first = order.length > FEW_FIELDS + 5 ? order.slice(0, FEW_FIELDS) : order;
  holder.append(...lines.filter((line, j) => first.includes(j)));
  if (first.length < order.length) {
    const more = make("details");
    more.append(make("summary", `${order.length - first.length} columns that matter less`),
      ...lines.filter((line, j) => line && !first.includes(j)));
    holder.append(more);
  }
  return {
    row: () => controls.map((control) => (control ? control.read() : null)),
    show: (row) => controls.forEach((control, j) => { if (control) control.write(row[j]); }),
    isMarked: () => controls.map((control) => control !== null && (control.mark === null || control.mark.checked)),
    mark: (names) => controls.forEach((control, j) => {
      if (control && control.mark) control.mark.checked = names.includes(live.document.columns[j].name);
    }),
  };
}

/** Return what a row of numbers is in the values of the columns; a category is the nearest one. */
function valuesOf(z) {
  let start = 0;
  return live.document.columns.map((column, j) => {
    const at = start;
    start += column.width;
    if (column.kind === "unused") return null;
    if (column.categories) {
      const far = column.entries.map((entry) => entry.reduce((sum, value, i) => sum + (value - z[at + i]) ** 2, 0));
      return column.categories[argmax(far.map((value) => -value))];
    }
    const value = z[at] / column.scale + column.offset;
    return live.ends[j].whole ? Math.round(value) : Number(value.toPrecision(6));
  });
}

/* The model as it is now, with the edits of this page, and the rows. */
const now = live && {
  document: live.document,
  model: modelOf(live.document),
  rows: unpackRows(live.table, live.document.columns),
  truth: Int32Array.from(unpackNumbers(live.table.truth)),
  listeners: [],
};
