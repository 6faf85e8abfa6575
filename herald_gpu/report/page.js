"use strict";
(() => {
  const g = JSON.parse(document.getElementById("graph-data").textContent);
  const figure = document.getElementById("graph");
  const canvas = document.getElementById("view");
  const stage = document.getElementById("stage");
  const tip = document.getElementById("tip");
  const said = document.getElementById("said");
  const pen = canvas.getContext("2d");
  if (!pen) return;
  figure.classList.add("live");

  const n = g.ids.length, m = g.edges.length / 2;
  const flags = (list, length) => { const all = new Uint8Array(length); for (const i of list) all[i] = 1; return all; };
  const synthetic = flags(g.synthetic, m), root = flags(g.root, n), landmark = flags(g.landmark, n);
  const MOST = 60, STEP = 1.3, REACH = 12, FEW = 6000, REST = 160;
  let view = { scale: 1, x: 0, y: 0 }, fit = 1, wide = 0, high = 0, active = -1, queued = false, colours = {};
  let ratio = 1, moved = -REST, later = 0;

  const near = Array.from({ length: n }, () => []);
  for (let e = 0; e < m; e++) { near[g.edges[2 * e]].push(e); near[g.edges[2 * e + 1]].push(e); }
  const CELL = Math.max(8, g.width / 60), cells = new Map();
  const cell = (x, y) => Math.floor(x / CELL) * 100003 + Math.floor(y / CELL);
  for (let i = 0; i < n; i++) {
    const key = cell(g.x[i], g.y[i]);
    if (cells.has(key)) cells.get(key).push(i); else cells.set(key, [i]);
  }
  const groups = new Map();
  for (let i = 0; i < n; i++) {
    const key = g.codes[i] + "/" + root[i] + "/" + landmark[i];
    if (groups.has(key)) groups.get(key).push(i); else groups.set(key, [i]);
  }

  function readColours() {
    const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
    const parts = (name) => [1, 3, 5].map((i) => parseInt(get(name).slice(i, i + 2), 16));
    colours = { edge: parts("--edge"), synthetic: parts("--synthetic"), text: get("--text"), "-1": get("--class-unknown") };
    for (let c = 0; c < g.classes.length; c++) colours[c] = get("--class-" + c);
    const own = getComputedStyle(document.getElementById("sheet"));
    colours.opacity = Number(own.getPropertyValue("--canvas-opacity")) || 0.4;
    draw();
  }

  function resize() {
    const before = wide;
    ratio = window.devicePixelRatio || 1;
    wide = stage.clientWidth;
    high = Math.round(Math.min(Math.max(wide * g.height / g.width, 260), 900));
    canvas.style.height = high + "px";
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    fit = Math.min(wide / g.width, high / g.height);
    if (!before || view.whole) whole(); else keep();
    draw();
  }
  function whole() { view = { scale: fit, x: (wide - fit * g.width) / 2, y: (high - fit * g.height) / 2, whole: true }; keep(); }
  function keep() {
    moved = performance.now();
    canvas.dataset.zoom = (view.scale / fit).toFixed(3);
    canvas.dataset.x = view.x.toFixed(1);
    canvas.dataset.y = view.y.toFixed(1);
  }
  function zoom(factor, x = wide / 2, y = high / 2) {
    const scale = Math.min(Math.max(view.scale * factor, fit * 0.5), fit * MOST), real = scale / view.scale;
    view = { scale, x: x - (x - view.x) * real, y: y - (y - view.y) * real };
    keep(); draw();
  }
  function pan(dx, dy) { view = { scale: view.scale, x: view.x + dx, y: view.y + dy }; keep(); draw(); }
  function draw() { if (!queued) { queued = true; requestAnimationFrame(paint); } }

  // Painted pixel by pixel: a browser without a graphics card takes seconds for paths of this many lines.
  let image = null, dark = null;
  function clipped(ax, ay, bx, by) {
    // Liang and Barsky: the part of a line that lies on the canvas.
    let low = 0, high_ = 1;
    const dx = bx - ax, dy = by - ay, w = canvas.width - 2, h = canvas.height - 2;
    for (const [p, q] of [[-dx, ax - 1], [dx, w - ax], [-dy, ay - 1], [dy, h - ay]]) {
      if (p === 0) { if (q < 0) return null; continue; }
      const t = q / p;
      if (p < 0) { if (t > low) low = t; } else if (t < high_) high_ = t;
      if (low > high_) return null;
    }
    return [ax + low * dx, ay + low * dy, ax + high_ * dx, ay + high_ * dy];
  }
  function inked(ax, ay, bx, by, weight, dashed) {
    // Two pixels a step across the line, by how near it passes (Wu).
    const w = canvas.width, steep = Math.abs(by - ay) > Math.abs(bx - ax);
    let [from, to, start, end] = steep ? [ay, by, ax, bx] : [ax, bx, ay, by];
    if (from > to) [from, to, start, end] = [to, from, end, start];
    const slope = to > from ? (end - start) / (to - from) : 0, last = Math.floor(to), first = Math.ceil(from);
    for (let i = first; i <= last; i++) {
      if (dashed && (i - first) % dashed >= 0.6 * dashed) continue;
      const exact = start + (i - from) * slope, whole_ = Math.floor(exact), part = exact - whole_;
      const spot = steep ? i * w + whole_ : whole_ * w + i;
      dark[spot] += weight * (1 - part);
      dark[spot + (steep ? 1 : w)] += weight * part;
    }
  }
  function edges(kind, every, opacity, colour) {
    if (!image || image.width !== canvas.width || image.height !== canvas.height) {
      image = pen.createImageData(canvas.width, canvas.height);
      dark = new Float32Array(canvas.width * canvas.height);
    }
    dark.fill(0);
    const s = view.scale * ratio, ox = view.x * ratio, oy = view.y * ratio;
    const weight = every * Math.max(1, ratio * 0.7), dash = kind ? 9 * ratio : 0;
    for (let e = 0; e < m; e += every) {
      if (synthetic[e] !== kind) continue;
      const a = g.edges[2 * e], b = g.edges[2 * e + 1];
      const ax = g.x[a] * s + ox, ay = g.y[a] * s + oy, bx = g.x[b] * s + ox, by = g.y[b] * s + oy;
      const line = clipped(ax, ay, bx, by);
      if (line) inked(...line, weight, dash);
    }
    const data = image.data, rate = -Math.log(1 - Math.min(0.9, opacity)), [red, green, blue] = colour;
    for (let i = 0, j = 0; i < dark.length; i++, j += 4) {
      const ink = dark[i];
      if (ink > 0) {
        const own = 1 - Math.exp(-rate * ink), under = kind ? data[j + 3] / 255 : 0, sum = own + under * (1 - own);
        const mix = own / sum;
        data[j] = red * mix + data[j] * (1 - mix);
        data[j + 1] = green * mix + data[j + 1] * (1 - mix);
        data[j + 2] = blue * mix + data[j + 2] * (1 - mix);
        data[j + 3] = 255 * sum;
      } else if (!kind) data[j + 3] = 0;
    }
  }
  // Nodes grow with the zoom, but slower than the space between them.
  const radius = () => Math.max(1.2, g.radius * fit * Math.pow(view.scale / fit, 0.6));
  function stamp(key, r) {
    const [code, isRoot, isLandmark] = key.split("/").map(Number), half = Math.ceil(1.6 * r * ratio) + 2;
    const sheet = document.createElement("canvas");
    sheet.width = sheet.height = 2 * half;
    const ink = sheet.getContext("2d");
    ink.translate(half, half);
    ink.scale(ratio, ratio);
    ink.fillStyle = colours[code];
    ink.beginPath();
    if (isLandmark) ink.rect(-1.6 * r, -1.6 * r, 3.2 * r, 3.2 * r); else ink.arc(0, 0, isRoot ? r : 0.75 * r, 0, 6.2832);
    ink.fill();
    if (isLandmark) { ink.strokeStyle = colours.text; ink.lineWidth = 1.2; ink.stroke(); }
    return [ink.getImageData(0, 0, 2 * half, 2 * half).data, half];
  }
  function stamped(pixels, half, left, top) {
    const data = image.data, side = 2 * half, w = canvas.width, h = canvas.height;
    for (let v = Math.max(0, -top); v < Math.min(side, h - top); v++) {
      for (let u = Math.max(0, -left); u < Math.min(side, w - left); u++) {
        const i = 4 * (v * side + u), own = pixels[i + 3] / 255;
        if (own === 0) continue;
        const j = 4 * ((top + v) * w + left + u), sum = own + (data[j + 3] / 255) * (1 - own), mix = own / sum;
        for (let c = 0; c < 3; c++) data[j + c] = pixels[i + c] * mix + data[j + c] * (1 - mix);
        data[j + 3] = 255 * sum;
      }
    }
  }
  function paint() {
    queued = false;
    if (!canvas.width || !canvas.height) return; // not laid out yet
    const moving = performance.now() - moved < REST, r = radius(), closer = view.scale / fit; // edges part as the view comes closer
    const every = moving ? Math.max(1, Math.ceil(m / FEW)) : 1;
    edges(0, every, Math.min(0.85, colours.opacity * closer), colours.edge);
    if (g.synthetic.length) edges(1, 1, 0.8, colours.synthetic);
    for (const [key, own] of groups) {
      const [pixels, half] = stamp(key, r);
      for (const i of own) {
        const x = Math.round((g.x[i] * view.scale + view.x) * ratio), y = Math.round((g.y[i] * view.scale + view.y) * ratio);
        stamped(pixels, half, x - half, y - half);
      }
    }
    pen.putImageData(image, 0, 0);
    if (active >= 0) highlight(r);
    if (every > 1) { clearTimeout(later); later = setTimeout(draw, REST); }
  }
  function highlight(r) {
    pen.strokeStyle = pen.fillStyle = colours.text;
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (const e of near[active]) {
      const a = g.edges[2 * e], b = g.edges[2 * e + 1];
      pen.moveTo(g.x[a] * view.scale + view.x, g.y[a] * view.scale + view.y);
      pen.lineTo(g.x[b] * view.scale + view.x, g.y[b] * view.scale + view.y);
    }
    pen.stroke();
    pen.beginPath();
    pen.arc(g.x[active] * view.scale + view.x, g.y[active] * view.scale + view.y, 1.6 * r + 4, 0, 6.2832);
    pen.lineWidth = 2;
    pen.stroke();
  }

  function find(px, py) {
    const x = (px - view.x) / view.scale, y = (py - view.y) / view.scale, reach = Math.max(REACH, 1.6 * radius()) / view.scale;
    let best = -1, least = reach * reach;
    for (let cx = Math.floor((x - reach) / CELL); cx <= Math.floor((x + reach) / CELL); cx++) {
      for (let cy = Math.floor((y - reach) / CELL); cy <= Math.floor((y + reach) / CELL); cy++) {
        for (const i of cells.get(cx * 100003 + cy) || []) {
          const d = (g.x[i] - x) ** 2 + (g.y[i] - y) ** 2;
          if (d < least) { least = d; best = i; }
        }
      }
    }
    return best;
  }
  function words(i) {
    const kind = landmark[i] ? "landmark" : root[i] ? "chosen for its own sake" : "kept as a neighbour or beside others";
    const told = ["node " + g.ids[i], "class " + (g.codes[i] < 0 ? "unknown" : g.classes[g.codes[i]]), kind,
      g.degrees[i] + (g.degrees[i] === 1 ? " neighbour" : " neighbours")];
    for (const name of Object.keys(g.scores)) {
      const value = g.scores[name][i];
      if (value !== null && !(name === "rank" && value === 0)) told.push((name === "lid" ? "LID" : name) + " " + value);
    }
    return told;
  }
  function show(i, aloud) {
    if (i === active && !aloud) { if (i >= 0) place(); return; }
    active = i;
    tip.style.display = i < 0 ? "none" : "block";
    if (i >= 0) {
      const told = words(i);
      tip.textContent = told.join("\n");
      if (aloud) said.textContent = told.join(", ");
      place();
    }
    draw();
  }
  function place() {
    const x = g.x[active] * view.scale + view.x, y = g.y[active] * view.scale + view.y;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(wide - w - 4, x + 16 + w > wide ? x - w - 16 : x + 16)) + "px";
    tip.style.top = Math.max(4, Math.min(high - h - 4, y - h / 2)) + "px";
  }
  function step(by) {
    const next = active < 0 ? (by > 0 ? 0 : n - 1) : (active + by + n) % n;
    const x = g.x[next] * view.scale + view.x, y = g.y[next] * view.scale + view.y;
    if (x < 20 || y < 20 || x > wide - 20 || y > high - 20) pan(wide / 2 - x, high / 2 - y);
    show(next, true);
  }

  const held = new Map();
  let spread = 0;
  const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); held.set(event.pointerId, at(event)); spread = 0; });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event), last = held.get(event.pointerId);
    if (!last) { show(find(x, y), false); return; }
    held.set(event.pointerId, [x, y]);
    if (held.size === 1) { show(-1, false); pan(x - last[0], y - last[1]); return; }
    const [one, two] = [...held.values()], now = Math.hypot(one[0] - two[0], one[1] - two[1]);
    if (spread) zoom(now / spread, (one[0] + two[0]) / 2, (one[1] + two[1]) / 2);
    spread = now;
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => { held.delete(event.pointerId); spread = 0; if (event.pointerType === "touch") show(find(...at(event)), true); });
  }
  canvas.addEventListener("pointerleave", () => { if (!held.size) show(-1, false); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 30 : 1;
    zoom(Math.exp(-event.deltaY * unit * 0.0015), ...at(event));
    show(-1, false);
  }, { passive: false });
  const keys = {
    "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), "_": () => zoom(1 / STEP),
    "0": () => { whole(); draw(); }, ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0),
    ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60), n: () => step(1), p: () => step(-1), Escape: () => show(-1, false),
  };
  canvas.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
    if (active >= 0) place();
    if ("+=-_0".includes(event.key)) said.textContent = "zoom " + Math.round(100 * view.scale / fit) + " percent";
  });
  canvas.addEventListener("blur", () => show(-1, false));
  const does = { "zoom-in": keys["+"], "zoom-out": keys["-"], "zoom-whole": keys["0"] };
  for (const id of Object.keys(does)) document.getElementById(id).addEventListener("click", does[id]);

  new ResizeObserver(resize).observe(stage);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
  readColours();
  resize();
})();
(() => {
  // Search in the kept features: the table holds the first of them, the data all.
  const list = JSON.parse(document.getElementById("graph-data").textContent).features;
  const input = document.getElementById("feature-search"), found = document.getElementById("feature-found");
  const area = document.getElementById("feature-rows"), body = area.querySelector("tbody"), most = Number(area.dataset.shown);
  const caption = area.querySelector("caption");
  input.parentElement.classList.add("live");
  const cell = (name, text, scope) => { const one = document.createElement(name); one.textContent = text; if (scope) one.scope = scope; return one; };
  function show() {
    const wanted = input.value.trim().toLowerCase();
    const fits = list.filter(([name, column]) => !wanted || name.toLowerCase().includes(wanted) || String(column) === wanted);
    body.replaceChildren(...fits.slice(0, most).map(([name, column, weight]) => {
      const row = document.createElement("tr");
      row.append(cell("th", name, "row"), cell("td", column), cell("td", weight === null ? "" : weight.toFixed(3)));
      return row;
    }));
    const told = fits.length > most ? "the first " + most + " of " + fits.length.toLocaleString("en") : "all " + fits.length;
    caption.textContent = "Kept features: " + (wanted ? told + " that match" : told);
    found.textContent = wanted ? fits.length.toLocaleString("en") + (fits.length === 1 ? " feature matches" : " features match") : "";
  }
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => { if (event.key === "Escape") { input.value = ""; show(); } });
})();
