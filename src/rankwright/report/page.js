"use strict";
// The page of a comparison. All names are written as text, never as markup.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const root = document.documentElement;

  // -- small things ---------------------------------------------------------------------------------------

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  const doubles = (text) => new Float64Array(bytes(text));
  const singles = (text) => new Float32Array(bytes(text));
  const wholes = (text) => new Int32Array(bytes(text));

  function make(kind, settings = {}, ...children) {
    const made = document.createElement(kind);
    for (const [name, value] of Object.entries(settings)) {
      if (name === "text") made.textContent = value;
      else if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
      else if (value !== null && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
  const whole = new Intl.NumberFormat("en");
  const four = (value) => (Math.abs(value) < 1000 ? value.toFixed(4) : value.toPrecision(4));
  const minus = (text) => text.replace("-", "−");
  const SHOWN = {
    text: (value) => String(value ?? "–"),
    count: (value) => (isNumber(value) ? whole.format(value) : "–"),
    value: (value) => (isNumber(value) ? minus(four(value)) : "–"),
    signed: (value) => (isNumber(value) ? (value > 0 ? "+" : "") + minus(four(value)) : "–"),
    chance: (value) => (!isNumber(value) ? "–" : value < 0.0001 ? "< 0.0001" : value.toFixed(4)),
  };

  function csv(columns, count) {
    const cell = (value) => {
      const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [columns.map((column) => cell(column.name)).join(",")];
    for (let row = 0; row < count; row++) lines.push(columns.map((column) => cell(column.values[row])).join(","));
    return lines.join("\r\n") + "\r\n";
  }

  function download(name, text) {
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // -- tables: sorted by their heads, a page at a time -------------------------------------------------------

  const PAGE = window.innerWidth < 500 ? 10 : 20;
  const inWords = new Intl.Collator("en", { numeric: true });

  class Table {
    constructor(host, caption, { page = PAGE, pick = null } = {}) {
      Object.assign(this, { host, caption, page, pick, columns: [], order: [], first: 0, by: -1, down: false });
      this.chosen = -1;
      this.wanted = "";
    }

    fill(columns) {
      this.columns = columns;
      this.count = columns.length ? columns[0].values.length : 0;
      this.sort();
    }

    sort() {
      const wanted = this.wanted.toLowerCase();
      const names = this.columns[0].values;
      let order = Array.from({ length: this.count }, (_, row) => row);
      if (wanted) order = order.filter((row) => String(names[row]).toLowerCase().includes(wanted));
      if (this.by >= 0) {
        const { values, kind } = this.columns[this.by];
        const sign = this.down ? -1 : 1;
        const there = (value) => (kind === "text" ? value !== null : isNumber(value));
        order.sort((a, b) => {
          const [one, other] = [values[a], values[b]];
          if (!there(one) || !there(other)) return there(other) - there(one);
          return sign * (kind === "text" ? inWords.compare(one, other) : one - other);
        });
      }
      this.order = order;
      this.first = 0;
      this.draw();
    }

    sortBy(number) {
      this.down = this.by === number ? !this.down : this.columns[number].kind !== "text";
      this.by = number;
      this.sort();
      this.host.querySelectorAll("th button")[number].focus();
    }

    show(row) {
      const place = this.order.indexOf(row);
      if (place >= 0) this.first = place - (place % this.page);
      this.chosen = row;
      this.draw();
    }

    head(column, number) {
      const sorted = this.by === number ? (this.down ? "descending" : "ascending") : null;
      const button = make("button", { type: "button", text: column.name || "value", on: { click: () => this.sortBy(number) } });
      return make("th", { scope: "col", class: column.kind === "text" ? "text" : null, "aria-sort": sorted }, button);
    }

    cell(column, row, number) {
      const value = column.values[row];
      const text = SHOWN[column.kind](value);
      const classes = [];
      if (column.kind === "text") classes.push("text");
      if (column.kind === "signed" && column.coloured && value > 0) classes.push("gain");
      if (column.kind === "signed" && column.coloured && value < 0) classes.push("loss");
      if (column.kind === "chance" && isNumber(value) && value < 0.05) classes.push("strong");
      const cell = make("td", { class: classes.join(" ") || null });
      if (number === 0 && this.pick) cell.append(make("button", { type: "button", text, on: { click: () => this.pick(row) } }));
      else cell.textContent = text;
      return cell;
    }

    draw() {
      const rows = this.order.slice(this.first, this.first + this.page).map((row) =>
        make("tr", { "aria-selected": this.pick ? String(row === this.chosen) : null },
          ...this.columns.map((column, number) => this.cell(column, row, number))));
      const table = make("table", { "aria-label": this.caption },
        make("thead", {}, make("tr", {}, ...this.columns.map((column, number) => this.head(column, number)))),
        make("tbody", {}, ...rows));
      const scrolled = this.host.querySelector(".scroll")?.scrollLeft ?? 0;
      const scroll = make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": this.caption }, table);
      this.host.replaceChildren(scroll, ...this.pages());
      scroll.scrollLeft = scrolled;
    }

    pages() {
      const n = this.order.length;
      if (this.count <= this.page) return [];
      const turn = (by) => () => {
        this.first += by * this.page;
        this.draw();
        const [back, on] = this.host.querySelectorAll(".pages button");
        (by > 0 ? (on.disabled ? back : on) : back.disabled ? on : back).focus();
      };
      const last = Math.min(this.first + this.page, n);
      const back = make("button", { type: "button", text: "Previous", on: { click: turn(-1) } });
      const on = make("button", { type: "button", text: "Next", on: { click: turn(1) } });
      back.disabled = this.first === 0;
      on.disabled = last >= n;
      const told = n ? `${whole.format(this.first + 1)} to ${whole.format(last)} of ${whole.format(n)}` : "none";
      return [make("div", { class: "pages" }, back, on, make("span", { text: told, role: "status" }))];
    }
  }

  // -- figures ------------------------------------------------------------------------------------------------

  const drawn = new Map();

  function look() {
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const text = { labelColor: colour("ink"), titleColor: colour("quiet") };
    const narrow = window.innerWidth < 500;
    const font = style.fontFamily || "sans-serif";
    return {
      background: "transparent", font: getComputedStyle(document.body).fontFamily || font,
      view: { stroke: null },
      axis: { ...text, gridColor: colour("grid"), domainColor: colour("line"), tickColor: colour("line"),
        labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
      axisY: { labelLimit: narrow ? 110 : 190 },
      legend: { ...text, labelFontSize: 12, labelLimit: narrow ? 95 : 160 },
    };
  }

  async function draw(host, panels, ready = null) {
    for (const view of drawn.get(host) ?? []) view.finalize();
    const holders = panels.map(({ title }) => {
      const chart = make("div", { class: "chart", role: "img", "aria-label": title || host.dataset.about || "figure" });
      return make("div", { class: "figure" }, ...(title ? [make("h4", { text: title })] : []), chart);
    });
    host.replaceChildren(...holders);
    const settings = {
      ast: true, config: look(), renderer: "canvas", hover: false,
      actions: { export: true, source: false, compiled: false, editor: false },
    };
    const views = [];
    for (const [number, { spec }] of panels.entries()) {
      const { view } = await vegaEmbed(holders[number].querySelector(".chart"), spec, settings);
      views.push(view);
      if (ready) ready(view);
    }
    drawn.set(host, views);
  }

  const withRows = (spec, rows) => ({ ...spec, data: { values: rows } });

  // -- what is compared ------------------------------------------------------------------------------------------

  const { systems, measures, pairs } = data;
  const sizes = wholes(data.queries.sizes);
  const values = data.queries.values.map((of) => of.map(doubles));
  const notes = data.queries.notes.map((of) => new Uint8Array(bytes(of)));
  const NOTES = [[1, "blank"], [2, "short"], [4, "tied"]];
  const inNotes = (note) => NOTES.filter(([bit]) => note & bit).map(([, word]) => word).join(", ");
  const ids = data.queries.ids;

  let measure = 0;
  let pair = pairs[0];
  let gains = [];
  let chosen = -1;

  function gainsOf([a, b]) {
    const [ours, theirs] = [values[measure][a], values[measure][b]];
    return Array.from(ours, (value, query) => {
      const gain = value - theirs[query];
      const rounding = 1e-12 * Math.max(Math.abs(value), Math.abs(theirs[query]));
      return Math.abs(gain) <= rounding ? 0 : gain;
    });
  }

  const queryTable = new Table(byId("t-queries"), "Queries", { pick: (row) => choose(row) });

  function queryColumns() {
    const [a, b] = pair;
    return [
      { name: "query", kind: "text", values: ids },
      { name: "gain", kind: "signed", coloured: true, values: gains },
      { name: systems[a], kind: "value", values: values[measure][a] },
      { name: systems[b], kind: "value", values: values[measure][b] },
      { name: "documents", kind: "count", values: sizes },
      { name: "note", kind: "text", values: Array.from(notes[measure], inNotes) },
    ];
  }

  function showQueries() {
    const [a, b] = pair;
    gains = gainsOf(pair);
    if (queryTable.by < 0) Object.assign(queryTable, { by: 1, down: true });
    queryTable.fill(queryColumns());
    const counted = ids.map((_, query) => query).filter((query) => !Number.isNaN(gains[query]));
    counted.sort((one, other) => gains[other] - gains[one] || one - other);
    const count = (test) => whole.format(counted.filter((query) => test(gains[query])).length);
    byId("gains-about").textContent =
      `${measures[measure]} of ${systems[a]} minus that of ${systems[b]}: ` +
      `${count((gain) => gain > 0)} queries gain, ${count((gain) => gain === 0)} stay, ` +
      `${count((gain) => gain < 0)} lose. Choose one to see where its documents moved.`;
    const each = Math.ceil(counted.length / data.bars);  // a bar is no narrower than the eye sees
    const rows = counted.flatMap((query, rank) => (rank % each ? [] : [{
      rank, next: Math.min(rank + each, counted.length), gain: gains[query], query: ids[query],
      kind: gains[query] > 0 ? "gained" : gains[query] < 0 ? "lost" : "equal",
    }]));
    const [panel] = [data.figures.gains[measure]];
    const host = byId("f-gains");
    host.dataset.about = byId("gains-about").textContent;
    return draw(host, [{ title: "", spec: withRows(panel.spec, rows) }], (view) => {
      view.addEventListener("click", (event) => {
        const rank = Math.floor(view.scale("x").invert(event.offsetX - view.origin()[0]));
        if (rank >= 0 && rank < counted.length) choose(counted[rank]);
      });
    });
  }

  // -- one query ---------------------------------------------------------------------------------------------------

  let documents = null;

  function documentsOf(query) {
    if (documents === null) {
      documents = JSON.parse(byId("documents").textContent) ?? false;
      if (documents) {
        for (const name of ["queries", "offsets"]) documents[name] = wholes(documents[name]);
        documents.labels = singles(documents.labels);
        documents.ranks = documents.ranks.map(wholes);
      }
    }
    const place = documents ? documents.queries.indexOf(query) : -1;
    if (place < 0) return [];
    const from = documents.offsets[place];
    return Array.from({ length: documents.offsets[place + 1] - from }, (_, number) => from + number);
  }

  function choose(query) {
    chosen = query;
    queryTable.show(query);
    drawing = drawing.then(showQuery);
    const title = byId("query-title");
    if (window.innerWidth <= 900) title.scrollIntoView({ block: "start" });
    title.focus({ preventScroll: true });
  }

  const documentTable = new Table(byId("t-documents"), "Documents of the query", { page: 40 });

  function showQuery() {
    if (chosen < 0) return null;
    const [a, b] = pair;
    const places = documentsOf(chosen);
    const told = systems.map((name, system) => `${name} ${SHOWN.value(values[measure][system][chosen])}`);
    byId("query-title").textContent = `Query ${ids[chosen]}`;
    byId("query-about").textContent = `${measures[measure]}: ${told.join(", ")}`;
    if (!places.length) {
      byId("query-about").textContent += ". Where its documents stand is not in this file.";
      byId("f-moves").replaceChildren();
      byId("t-documents").replaceChildren();
      return null;
    }
    const label = (place) => (Number.isNaN(documents.labels[place]) ? "?" : String(documents.labels[place]));
    const named = (rank) => (rank ? rank : null);
    documentTable.by = documentTable.by < 0 ? 2 + a : documentTable.by;
    documentTable.fill([
      { name: "document", kind: "text", values: places.map((place) => documents.names[place]) },
      { name: "label", kind: "text", values: places.map(label) },
      ...systems.map((name, system) => ({
        name, kind: "count", values: places.map((place) => named(documents.ranks[system][place])),
      })),
    ]);
    const depth = documents.depth;
    const near = (rank) => rank > 0 && rank <= depth;
    const rows = places
      .filter((place) => near(documents.ranks[a][place]) || near(documents.ranks[b][place]))
      .flatMap((place) => [b, a].map((system) => {
        const rank = documents.ranks[system][place];
        return {
          document: documents.names[place], label: label(place), system: systems[system],
          kind: documents.labels[place] > 0 ? "relevant" : "not relevant",
          rank: rank ? Math.min(rank, depth + 1) : depth + 1, place: rank || "–",
        };
      }));
    const spec = JSON.parse(JSON.stringify(documents.spec));
    for (const layer of spec.layer) layer.encoding.x.sort = [systems[b], systems[a]];
    const host = byId("f-moves");
    host.dataset.about = `Ranks of the documents of query ${ids[chosen]} by ${systems[b]} and by ${systems[a]}`;
    return draw(host, [{ title: "", spec: withRows(spec, rows) }]);
  }

  // -- the page ----------------------------------------------------------------------------------------------------

  const TABLES = { measures: "All means", significance: "Differences and tests", data: "The data" };
  const CURVES = { curves: "Means by rank", learning: "Learning curves", importance: "Features" };

  function allQueries() {
    const columns = [{ name: "query", values: ids }, { name: "documents", values: sizes }];
    measures.forEach((name, number) => {
      systems.forEach((system, which) => columns.push({ name: `${name} ${system}`, values: values[number][which] }));
      columns.push({ name: `${name} note`, values: Array.from(notes[number], inNotes) });
    });
    return csv(columns, ids.length);
  }

  function downloads() {
    const all = { ...TABLES, ...CURVES };
    const buttons = Object.entries(all)
      .filter(([name]) => data.tables[name].columns[0].values.length)
      .map(([name, title]) => {
        const { columns } = data.tables[name];
        return [name, title, () => csv(columns, columns[0].values.length)];
      });
    buttons.push(["queries", "Every query", allQueries]);
    for (const [name, title, text] of buttons) {
      const act = () => download(`${name}.csv`, text());
      byId("downloads").append(make("li", {}, make("button", { type: "button", id: `csv-${name}`, text: title, on: { click: act } })));
    }
  }

  async function redraw() {
    byId("verdict").textContent = data.verdicts[measure];
    for (const name of ["measures", "differences", "curves"]) {
      await draw(byId(`f-${name}`), data.figures[name][measure]);
    }
    await showQueries();
    await showQuery();
    await draw(byId("f-learning"), data.figures.learning);
    await draw(byId("f-importance"), data.figures.importance);
    root.dataset.ready = "yes";
  }

  let drawing = Promise.resolve();
  const again = () => {
    delete root.dataset.ready;
    drawing = drawing.then(redraw);
  };

  function dress(dark) {
    root.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = dark ? "Light" : "Dark";
    byId("theme").setAttribute("aria-pressed", String(dark));
    byId("theme").setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
  }

  function begin() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    dress(system.matches);
    system.addEventListener("change", () => { dress(system.matches); again(); });
    byId("theme").addEventListener("click", () => { dress(root.dataset.theme !== "dark"); again(); });
    measures.forEach((name, number) => byId("measure").append(make("option", { value: number, text: name })));
    pairs.forEach(([a, b], number) =>
      byId("pair").append(make("option", { value: number, text: `${systems[a]} − ${systems[b]}` })));
    byId("measure").addEventListener("change", (event) => { measure = Number(event.target.value); again(); });
    byId("pair").addEventListener("change", (event) => {
      pair = pairs[Number(event.target.value)];
      drawing = drawing.then(showQueries).then(showQuery);
    });
    byId("find").addEventListener("input", (event) => { queryTable.wanted = event.target.value; queryTable.sort(); });
    byId("about").textContent =
      `${systems.length} systems, ${whole.format(ids.length)} queries, ` +
      `${whole.format(sizes.reduce((sum, size) => sum + size, 0))} documents; ` +
      "p-values by Fisher's randomisation test, corrected after Holm.";
    for (const [name, title] of Object.entries(TABLES)) {
      const page = name === "data" ? 40 : PAGE;
      const { columns } = data.tables[name];
      for (const column of columns) column.coloured = column.name === "difference";
      new Table(byId(`t-${name}`), title, { page }).fill(columns);
    }
    byId("learning").hidden = !data.figures.learning.length;
    byId("importance").hidden = !data.figures.importance.length;
    byId("importance-about").textContent =
      `How much ${measures[0]} is lost when a feature is shuffled within each query, and its 95 % interval.`;
    downloads();
    again();
  }

  begin();
})();
