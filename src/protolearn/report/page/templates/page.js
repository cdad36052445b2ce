(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (where, inside = document) => [...inside.querySelectorAll(where)];
  const element = (name, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  /* Tabs: without this script they are links to the sections of one long document. */
  const tabs = all(".tabs a");
  const list = document.querySelector(".tabs");
  const panelOf = (tab) => document.querySelector(tab.getAttribute("href"));
  list.setAttribute("role", "tablist");
  tabs.forEach((tab) => {
    const panel = panelOf(tab);
    tab.id = "tab-" + panel.id;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
  });
  const open = (name) => {
    const chosen = tabs.find((tab) => panelOf(tab).id === name) || tabs[0];
    tabs.forEach((tab) => {
      const isOpen = tab === chosen;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      panelOf(tab).classList.toggle("open", isOpen);
    });
    return chosen;
  };
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const panel = target && target.closest("section");
    open(panel ? panel.id : "overview");
    const fold = target && target.closest("details");
    if (fold) fold.open = true;
    if (target && target !== panel) target.scrollIntoView();
  };
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -tabs.length, End: tabs.length }[event.key];
    if (!step) return;
    event.preventDefault();
    const here = tabs.indexOf(document.activeElement);
    const last = tabs.length - 1;
    const next = Math.abs(step) > 1 ? Math.max(0, Math.min(last, here + step)) : (here + step + tabs.length) % tabs.length;
    tabs[next].focus();
    tabs[next].click();
  });
  const toTop = () => {
    const top = document.querySelector("header").offsetHeight;
    if (scrollY > top) scrollTo({ top, behavior: "instant" });
  };
  tabs.forEach((tab) => tab.addEventListener("click", (event) => {
    event.preventDefault();
    history.replaceState(null, "", tab.getAttribute("href"));
    open(panelOf(tab).id);
    toTop();
  }));
  addEventListener("hashchange", () => { follow(); toTop(); });
  follow();

  /* What a chart or the map shows where it is pointed at. */
  const tip = element("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  const showTip = (text, event) => {
    tip.textContent = text;
    tip.hidden = !text;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18 + tip.offsetHeight > innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (below ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + "px";
  };
  const corners = (line) => line.getAttribute("points").trim().split(" ").map((pair) => pair.split(",").map(Number));
  const valueText = (value, kind) => {
    if (kind === "date") return new Date(Math.round(value) * 864e5).toISOString().slice(0, 10);
    return kind === "share" ? (100 * value).toFixed(1) + "%" : String(Number(value.toPrecision(3)));
  };
  const nearest = (plot, x, y) => {
    let best = { far: 40, text: "" };
    const [across, up, [left, right, top, bottom]] = JSON.parse(plot.dataset.scale);
    for (const line of all("polyline[data-name], polyline[data-tips]", plot)) {
      if (line.closest(".reference, .ink")) continue;
      const tips = line.dataset.tips ? JSON.parse(line.dataset.tips) : null;
      corners(line).forEach(([a, b], k) => {
        const far = Math.hypot(a - x, tips ? 0 : b - y);
        if (far >= best.far) return;
        const first = valueText(across[1] + ((a - left) / (right - left)) * (across[2] - across[1]), across[3]);
        const second = valueText(up[1] + ((bottom - b) / (bottom - top)) * (up[2] - up[1]), up[3]);
        const name = line.dataset.name ? line.dataset.name + ": " : "";
        best = { far, text: tips ? tips[k] : name + across[0] + " " + first + ", " + up[0] + " " + second };
      });
    }
    return best.text;
  };
  all(".plot").forEach((plot) => {
    plot.addEventListener("pointermove", (event) => {
      const title = event.target.querySelector && event.target !== plot && event.target.querySelector("title");
      const box = plot.getBoundingClientRect();
      const scale = 440 / box.width;
      showTip(title ? title.textContent : nearest(plot, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale), event);
    });
    plot.addEventListener("pointerleave", () => { tip.hidden = true; });
  });

  /* The row that is chosen on the map, in the panel beside it. */
  const rows = data.rows;
  const panel = document.getElementById("row");
  const world = document.querySelector("#world svg");
  const choice = document.getElementById("row-choice");
  const showRow = (i) => {
    panel.replaceChildren(element("h3", "Row " + rows.names[i]));
    const says = data.classes[rows.says[i]];
    const label = data.classes[rows.true[i]];
    panel.append(element("p", "Labelled " + label + "; the model predicts " + says + "."));
    if (rows.said[i] !== null) {
      const sure = rows.sure[i] === null ? "" : " with probability " + Math.round(100 * rows.sure[i]) + "%";
      panel.append(element("p", rows.who + " predicts " + rows.said[i] + sure + "."));
    }
    if (rows.cases[i] !== undefined) {
      const link = element("a", "What would change the prediction");
      link.href = "#case-" + rows.cases[i];
      const line = element("p");
      line.append(link);
      panel.append(line);
    }
    if (rows.pictures) {
      const picture = element("img");
      Object.assign(picture, { src: rows.pictures[i], alt: "Row " + rows.names[i], className: "pixels" });
      panel.append(picture);
    } else {
      const table = element("table");
      rows.columns.forEach((name, j) => {
        const line = element("tr");
        const head = element("th", name);
        head.scope = "row";
        line.append(head, element("td", rows.cells[j][i]));
        table.append(line);
      });
      panel.append(table);
      if (rows.left > 0) panel.append(element("p", "and " + rows.left + " more column" + (rows.left > 1 ? "s" : "")));
    }
    if (panel.scrollHeight > panel.clientHeight) panel.tabIndex = 0;
    else panel.removeAttribute("tabindex");
    all(".chosen").forEach((one) => one.classList.remove("chosen"));
    const mark = world.querySelector('[data-row="' + i + '"]');
    mark.classList.add("chosen");
    choice.value = String(i);
  };
  if (world) {
    world.addEventListener("pointermove", (event) => {
      const i = event.target.dataset.row;
      const title = event.target.querySelector("title");
      const name = i === undefined ? title && title.textContent : "row " + rows.names[i] + ": " + data.classes[rows.true[i]];
      showTip(name || "", event);
      if (i !== undefined && event.pointerType === "mouse") showRow(Number(i));
    });
    world.addEventListener("pointerleave", () => { tip.hidden = true; });
    world.addEventListener("click", (event) => {
      if (event.target.dataset.row !== undefined) showRow(Number(event.target.dataset.row));
    });
    const blank = element("option", "choose");
    blank.value = "";
    choice.append(blank, ...rows.names.map((name, i) => Object.assign(element("option", name), { value: String(i) })));
    choice.addEventListener("change", () => { if (choice.value !== "") showRow(Number(choice.value)); });
  }

  /* A class that is picked stands out; what is about another one fades. */
  const select = document.getElementById("class");
  if (select) select.addEventListener("change", () => {
    all("[data-class]").forEach((one) => {
      const isOther = select.value !== "" && one.dataset.class !== select.value && one.dataset.class !== "None";
      if (one.tagName === "ARTICLE") one.hidden = isOther;
      else one.classList.toggle("faded", isOther);
    });
  });
})();
