(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const coarse = matchMedia("(pointer: coarse)").matches;
  /* A name with two dollar signs is a name, not mathematics. */
  const config = { displayModeBar: false, scrollZoom: false, typesetMath: false };
  const pen = document.createElement("canvas").getContext("2d");
  let picked = "";

  /* Colours that are names, such as {colour: "ink"}, are those of the page: other ones in light and dark. */
  const resolve = (value, style) => {
    if (value && typeof value.colour === "string") {
      return style.getPropertyValue("--" + value.colour).trim();
    }
    if (Array.isArray(value)) return value.map((one) => resolve(one, style));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolve(v, style)]));
    }
    return value;
  };

  const plain = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  const safe = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const widthOf = (text) => pen.measureText(text).width;

  /* A text that is longer than its room loses its middle. */
  const shortened = (text, room) => {
    const signs = Array.from(text);
    let half = Math.floor(signs.length / 2);
    let short = text;
    while (half > 3 && widthOf(short) > room) {
      half -= 1;
      short = signs.slice(0, half).join("") + "…" + signs.slice(-half).join("");
    }
    return short;
  };

  /* A title that is longer than its axis goes on in another line. */
  const broken = (text, room) => {
    const lines = [];
    for (const whole of plain(text).split(" ")) {
      const word = shortened(whole, room);
      const longer = lines.length ? lines.at(-1) + " " + word : word;
      if (lines.length && widthOf(longer) <= room) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines.map(safe).join("<br>");
  };

  /* A legend above a chart has as many lines as it needs; the chart keeps its size below it. */
  const linesOfLegend = (chart, traces, width) => {
    const legend = chart.layout.legend || {};
    if (!chart.layout.showlegend || legend.orientation !== "h") return 0;
    const names = traces.filter((trace) => trace.name && trace.showlegend !== false);
    const widest = Math.max(...names.map((trace) => widthOf(plain(trace.name)))) + 50;
    const all = names.reduce((sum, trace) => sum + widthOf(plain(trace.name)) + 50, 0);
    return all <= width ? 1 : Math.ceil(names.length / Math.max(1, Math.floor(width / widest)));
  };

  const wholeLayout = (chart, style, size, more) => {
    const ink = style.getPropertyValue("--ink").trim();
    const muted = style.getPropertyValue("--muted").trim();
    const rule = style.getPropertyValue("--rule").trim();
    const family = getComputedStyle(document.body).fontFamily;
    const own = resolve(chart.layout, style);
    const axis = (given, room) => ({
      gridcolor: rule, linecolor: rule, zerolinecolor: rule, tickcolor: rule,
      tickfont: { color: muted }, automargin: true, fixedrange: chart.name !== "world" || coarse,
      ...given,
      title: {
        font: { color: muted, size: 13 }, standoff: 8,
        text: broken((given && given.title && given.title.text) || "", room),
      },
    });
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family, size: 13, color: ink },
      margin: { l: 48, r: 24, t: 10, b: 44 }, showlegend: false, hovermode: "closest",
      hoverlabel: {
        bgcolor: style.getPropertyValue("--card").trim(), bordercolor: rule, align: "left",
        font: { color: ink, family }, namelength: 40,
      },
      dragmode: coarse ? false : "zoom", uirevision: "kept", ...own, ...size,
      legend: { traceorder: "normal", ...own.legend },
      xaxis: axis(own.xaxis, size.width - 80), yaxis: axis(own.yaxis, size.height - more - 80),
    };
  };

  /* A class that is picked stands out; all others fade. */
  const dimmed = ({ meta = {}, ...trace }) => {
    if (picked !== "" && meta.class !== undefined && String(meta.class) !== picked) {
      return { ...trace, opacity: 0.08 };
    }
    if (picked !== "" && meta.classes) {
      const marker = { ...trace.marker, opacity: meta.classes.map((c) => (String(c) === picked ? 1 : 0.1)) };
      return { ...trace, marker };
    }
    return trace;
  };

  const draw = (chart, widthFor = (place) => place.clientWidth, tallest = Infinity) => {
    const place = document.getElementById(chart.name);
    if (!place) return Promise.resolve();
    chart.height ??= place.clientHeight;
    const style = getComputedStyle(root);
    const width = widthFor(place);
    pen.font = "13px " + getComputedStyle(document.body).fontFamily;
    const traces = chart.traces.map((trace) => dimmed(resolve(trace, style)));
    traces.forEach((trace) => {
      if (trace.name) trace.name = safe(shortened(plain(trace.name), Math.min(280, width / 2)));
    });
    const more = 20 * Math.max(0, linesOfLegend(chart, traces, width - 80) - 1);
    const height = Math.min(chart.height, tallest) + more;
    place.style.height = height + "px";
    return Plotly.react(place, traces, wholeLayout(chart, style, { width, height }, more), config);
  };

  const drawAll = (...size) => data.charts.forEach((chart) => draw(chart, ...size));

  const element = (name, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  /* The row that is pointed at, in the panel beside the map. */
  const showRow = (i) => {
    const rows = data.rows;
    const panel = document.getElementById("row");
    panel.replaceChildren(element("h3", "Row " + rows.names[i]));
    const label = data.classes[rows.true[i]];
    panel.append(element("p", "Labelled " + label + "; the model says " + data.classes[rows.says[i]] + "."));
    if (rows.said[i] !== null) {
      const sure = rows.sure[i] === null ? "" : ", with probability " + Math.round(100 * rows.sure[i]) + "%";
      panel.append(element("p", rows.who + " said " + rows.said[i] + sure + "."));
    }
    if (rows.pictures) {
      const picture = element("img");
      Object.assign(picture, { src: rows.pictures[i], alt: "Row " + rows.names[i], className: "pixels" });
      panel.append(picture);
      return;
    }
    const table = element("table");
    rows.columns.forEach((name, j) => {
      const line = element("tr");
      const head = element("th", name);
      head.scope = "row";
      line.append(head, element("td", rows.cells[j][i]));
      table.append(line);
    });
    panel.append(table);
    if (rows.left > 0) panel.append(element("p", "and " + rows.left + (rows.left > 1 ? " columns more" : " column more")));
    if (panel.scrollHeight > panel.clientHeight) panel.tabIndex = 0;
    else panel.removeAttribute("tabindex");
  };

  const listen = () => {
    const map = document.getElementById("world");
    if (map && map.on) {
      const traces = data.charts.find((one) => one.name === "world").traces;
      const pointed = (event) => {
        const point = event.points.find((one) => (traces[one.curveNumber].meta || {}).rows);
        if (point) showRow(point.customdata);
      };
      map.on("plotly_hover", pointed);
      map.on("plotly_click", pointed);
    }
    document.querySelectorAll("input[data-path]").forEach((input) => {
      const chart = data.charts.find((one) => one.name === input.dataset.path);
      input.addEventListener("input", () => {
        const step = chart.extra.steps[Number(input.value)];
        const [line, stars] = chart.extra.moving;
        Object.assign(chart.traces[line], { x: step.line[0], y: step.line[1] });
        Object.assign(chart.traces[stars], { x: step.prototypes[0], y: step.prototypes[1] });
        document.getElementById(chart.name + "-told").textContent = step.told;
        draw(chart);
      });
    });
    const select = document.getElementById("class");
    select.addEventListener("change", () => {
      picked = select.value;
      document.querySelectorAll("[data-class]").forEach((one) => {
        one.hidden = picked !== "" && one.dataset.class !== picked;
      });
      drawAll();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll());
    /* A phone that scrolls hides a bar of its own: only another width counts. */
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === width || root.dataset.theme) return; // nor does paper
      width = innerWidth;
      drawAll();
    });
    /* Paper is light, and narrower than most screens. */
    const paper = 665;
    const printed = (place) => (place.closest(".charts") ? 325 : paper);
    const tables = document.querySelectorAll(".wide > table");
    addEventListener("beforeprint", () => {
      root.dataset.theme = "light";
      tables.forEach((table) => {
        table.style.width = "min-content";
        const needed = table.offsetWidth;
        table.style.width = "";
        table.style.zoom = Math.min(1, paper / needed);
      });
      drawAll(printed, 480);
    });
    addEventListener("afterprint", () => {
      delete root.dataset.theme;
      tables.forEach((table) => { table.style.zoom = ""; });
      drawAll();
    });
  };

  const start = async () => {
    for (const chart of data.charts) {
      await draw(chart);
      await new Promise((done) => setTimeout(done));
    }
    listen();
    root.dataset.ready = "yes";
  };
  start();
})();
