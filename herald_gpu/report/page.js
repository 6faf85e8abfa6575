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
  const MOST = 60, STEP = 1.3, REACH = 12, LAYERS = 12;
  let view = { scale: 1, x: 0, y: 0 }, fit = 1, wide = 0, high = 0, active = -1, queued = false, colours = {};

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
    colours = { edge: get("--edge"), synthetic: get("--synthetic"), text: get("--text"), "-1": get("--class-unknown") };
    for (let c = 0; c < g.classes.length; c++) colours[c] = get("--class-" + c);
    const own = getComputedStyle(document.getElementById("sheet"));
    colours.opacity = Number(own.getPropertyValue("--edge-opacity")) || 0.4;
    colours.width = parseFloat(own.getPropertyValue("--edge-width")) || 0.8;
    draw();
  }

  function resize() {
    const ratio = window.devicePixelRatio || 1, before = wide;
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

  function lines(which, start, by, left, right, top, bottom) {
    pen.beginPath();
    for (let e = start; e < m; e += by) {
      if (synthetic[e] !== which) continue;
      const a = g.edges[2 * e], b = g.edges[2 * e + 1], ax = g.x[a], ay = g.y[a], bx = g.x[b], by = g.y[b];
      if ((ax < left && bx < left) || (ax > right && bx > right) || (ay < top && by < top) || (ay > bottom && by > bottom)) continue;
      pen.moveTo(ax * view.scale + view.x, ay * view.scale + view.y);
      pen.lineTo(bx * view.scale + view.x, by * view.scale + view.y);
    }
    pen.stroke();
  }
  // Nodes grow with the zoom, but slower than the space between them.
  const radius = () => Math.max(1.2, g.radius * fit * Math.pow(view.scale / fit, 0.6));
  function shape(i, r) {
    const x = g.x[i] * view.scale + view.x, y = g.y[i] * view.scale + view.y;
    if (x < -20 || y < -20 || x > wide + 20 || y > high + 20) return;
    if (landmark[i]) pen.rect(x - 1.6 * r, y - 1.6 * r, 3.2 * r, 3.2 * r);
    else { const own = root[i] ? r : 0.75 * r; pen.moveTo(x + own, y); pen.arc(x, y, own, 0, 6.2832); }
  }
  function paint() {
    queued = false;
    pen.clearRect(0, 0, wide, high);
    const left = -view.x / view.scale, top = -view.y / view.scale, r = radius();
    const right = left + wide / view.scale, bottom = top + high / view.scale;
    pen.lineWidth = Math.min(1.6, colours.width * Math.sqrt(view.scale / fit));
    pen.globalAlpha = Math.min(0.85, colours.opacity * Math.sqrt(view.scale / fit));
    pen.strokeStyle = colours.edge;
    // Where edges of several layers cross, they add up.
    for (let layer = 0; layer < LAYERS; layer++) lines(0, layer, LAYERS, left, right, top, bottom);
    pen.globalAlpha = 0.8;
    pen.strokeStyle = colours.synthetic;
    pen.setLineDash([4, 3]);
    lines(1, 0, 1, left, right, top, bottom);
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    for (const [key, own] of groups) {
      pen.beginPath();
      for (const i of own) shape(i, r);
      pen.fillStyle = colours[key.split("/")[0]];
      pen.fill();
      if (landmark[own[0]]) { pen.strokeStyle = colours.text; pen.lineWidth = 1.2; pen.stroke(); }
    }
    if (active >= 0) highlight(r);
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
