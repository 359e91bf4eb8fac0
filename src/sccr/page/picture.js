/*
 * picture.js - the two canvases: nodes over time with jobs and bookings, and the whole run behind the
 * slider
 */

/* ---- colours and layout ------------------------------------------------------------------------ */

const canvas = $("nodes"), ctx = canvas.getContext("2d"), over = $("overview"), octx = over.getContext("2d");
let C = {}, hatch = null, W = 0, H = 0, dpr = 1, layout = null;
const AXIS = 24, PAD_R = 10;

function colours() {
  const css = getComputedStyle(document.documentElement);
  for (const key of ["panel", "ink", "dim", "line", "faint", "ordered", "ordered-rest", "filler", "filler-rest", "booking", "booking-bg", "now", "on-bar"])
    C[key] = css.getPropertyValue("--" + key).trim();
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8 * dpr;
  const g = tile.getContext("2d");
  g.scale(dpr, dpr);
  g.strokeStyle = C.booking;
  g.lineWidth = 1.3;
  for (const d of [-8, 0, 8]) { g.beginPath(); g.moveTo(d - 1, 9); g.lineTo(d + 9, -1); g.stroke(); }
  hatch = ctx.createPattern(tile, "repeat");
  hatch.setTransform(new DOMMatrix().scale(1 / dpr));
}

function arrange() {
  dpr = window.devicePixelRatio || 1;
  const box = $("scroll");
  W = box.clientWidth;
  H = box.clientHeight;
  canvas.width = Math.round(W * dpr);
  canvas.height = Math.round(H * dpr);
  canvas.style.height = H + "px";
  over.width = Math.round(over.clientWidth * dpr);
  over.height = Math.round(over.clientHeight * dpr);
  /* as high as fits, within what can still be told apart */
  const rows = nodes.reduce((a, n) => a + n.gpus, 0);
  const gap = nodes.length > 40 ? 4 : 6;
  const plain = nodes.filter((n) => !n.gpus).length;
  const strip = nodes.length > 40 ? 6 : 9;
  const room = H - AXIS - 8 - nodes.length * (gap + (rows ? strip + 1 : 0));
  const g = rows ? Math.max(nodes.length > 40 ? 2.5 : 4, Math.min(11, room / Math.max(rows + 2 * plain, 1))) : 0;
  const cores = rows ? strip : Math.max(8, Math.min(46, (H - AXIS) / nodes.length - gap));
  let y = AXIS + 4;
  layout = nodes.map((n) => {
    const top = y, h = n.gpus ? n.gpus * g + cores + 1 : rows ? Math.max(cores, 14) : cores;
    y += h + gap;
    return {top, h, g, coreTop: n.gpus ? top + n.gpus * g + 1 : top, coreH: n.gpus ? cores : h};
  });
  layout.total = y;
  ctx.font = "11px system-ui, sans-serif";
  layout.left = Math.min(150, Math.max(...nodes.map((n) => ctx.measureText(n.name).width)) + 22);
  $("spacer").style.height = Math.max(0, layout.total - H) + "px";
  colours();
  backdrop = null;
  drawOverview();
}

function view() {
  const w = Number($("window").value);
  if (!w) return [D.from, Math.max(D.to, D.from + 1)];
  /* the present stands at three fifths: behind it what was, before it what is planned */
  const t0 = Math.min(Math.max(S.t - 0.6 * w, D.from - 0.02 * w), Math.max(D.from - 0.02 * w, D.to - 0.9 * w));
  return [t0, t0 + w];
}

/* ---- drawing ----------------------------------------------------------------------------------- */

function step(width, seconds) {
  const want = seconds / Math.max(1, width / 90);
  return [60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000, 7776000].find((s) => s >= want) || 31536000;
}

function bookingsOf(look) {
  const out = [];
  if (look < 0) return out;
  for (const i of D.looks[look][2]) {
    const b = D.bookings[i];
    for (let k = 2; k < b.length; k += 3)
      out.push({job: b[0], start: b[1], end: J.limit[b[0]] === null ? Infinity : b[1] + J.limit[b[0]], node: b[k], gpus: b[k + 1], cores: b[k + 2]});
  }
  return out;
}

/* On which rows a booking is drawn: those that come free last but in time, and that no other one has. */
let placed = {look: -2, by: new Map()};
function placeBookings(look) {
  if (placed.look === look) return placed.by;
  const by = new Map(), t = look < 0 ? D.from : D.looks[look][0];
  for (const b of bookingsOf(look)) {
    if (!by.has(b.node)) by.set(b.node, []);
    by.get(b.node).push(b);
  }
  for (const [at, list] of by) {
    const n = nodes[at], gpu = new Array(n.gpus).fill(t), core = new Array(n.cores).fill(t);
    const to = firstWhere(n.at.length, (i) => J.start[n.at[i].job] > t);
    for (let i = firstWhere(to, (k) => n.reach[k] > t); i < to; i++) {
      const p = n.at[i], end = plannedEnd(p.job);
      if (endOf(p.job) <= t) continue;
      for (let k = 0; k < p.rows.length; k += 2) gpu.fill(end, p.rows[k], p.rows[k] + p.rows[k + 1]);
      core.fill(end, p.core, p.core + p.cores);
    }
    list.sort((a, b) => a.start - b.start);
    for (const b of list) {
      b.rows = pick(gpu, b.gpus, b, list, "rows");
      b.coreRuns = pick(core, b.cores, b, list, "coreRuns");
    }
  }
  placed = {look, by};
  return by;
}
function pick(freeAt, need, b, list, key) {
  if (!need) return [];
  const taken = new Set();
  for (const o of list)
    if (o !== b && o[key] && o.start < b.end && b.start < o.end)
      for (let k = 0; k < o[key].length; k += 2)
        for (let i = 0; i < o[key][k + 1]; i++) taken.add(o[key][k] + i);
  const rows = freeAt.map((f, i) => [f, i]).filter((x) => !taken.has(x[1]));
  const ok = rows.filter((x) => x[0] <= b.start).sort((a, c) => c[0] - a[0] || a[1] - c[1]);
  const late = rows.filter((x) => x[0] > b.start).sort((a, c) => a[0] - c[0]);
  const chosen = ok.concat(late).slice(0, need).map((x) => x[1]).sort((a, c) => a - c), runs = [];
  for (const i of chosen) {
    if (runs.length && runs[runs.length - 2] + runs[runs.length - 1] === i) runs[runs.length - 1]++;
    else runs.push(i, 1);
  }
  return runs;
}

function bar(x, y, w, h, fill) {
  ctx.fillStyle = fill;
  if (w > 14 && h > 6) { ctx.beginPath(); ctx.roundRect(x, y, w, h, 2.5); ctx.fill(); } else ctx.fillRect(x, y, w, h);
}

function draw() {
  const [t0, t1] = view(), left = layout.left, width = W - left - PAD_R, sx = width / (t1 - t0);
  const X = (t) => left + (t - t0) * sx, look = lookAt(S.t), books = placeBookings(look);
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  ctx.fillStyle = C.panel;
  ctx.fillRect(0, 0, W, H);
  ctx.textBaseline = "middle";
  const gridStep = step(width, t1 - t0);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, AXIS, width, H - AXIS);
  ctx.clip();
  for (let t = Math.ceil(t0 / gridStep) * gridStep; t < t1; t += gridStep) {
    ctx.fillStyle = (t % 86400) ? C.faint : C.line;
    ctx.fillRect(Math.round(X(t)), AXIS, 1, H);
  }
  ctx.restore();
  for (let i = 0; i < nodes.length; i++) {
    const L = layout[i], n = nodes[i], dy = -S.scroll;
    if (L.top + L.h + dy < AXIS || L.top + dy > H) continue;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, Math.max(AXIS, 0), width, H - AXIS);
    ctx.clip();
    ctx.fillStyle = C.faint;
    if (n.gpus) ctx.fillRect(left, L.top + dy, width, n.gpus * L.g);
    ctx.fillRect(left, L.coreTop + dy, width, L.coreH);
    if (L.g >= 5) {
      ctx.fillStyle = C.panel;
      for (let k = 1; k < n.gpus; k++) ctx.fillRect(left, L.top + dy + k * L.g - 0.5, width, 1);
    }
    drawNode(n, L, dy, X, t0, t1);
    for (const b of books.get(i) || []) drawBooking(b, n, L, dy, X, t1);
    ctx.restore();
    if (S.node === i) { ctx.fillStyle = C.now; ctx.fillRect(2, L.top + dy, 3, L.h); }
    ctx.fillStyle = S.node === i ? C.ink : C.dim;
    ctx.font = (S.node === i ? "600 " : "") + "11px system-ui, sans-serif";
    ctx.textAlign = "left";
    if (L.top + dy + L.h / 2 > AXIS + 4) ctx.fillText(n.name, 10, L.top + dy + L.h / 2, left - 14);
  }
  axis(t0, t1, X, gridStep, left, width);
}

function drawNode(n, L, dy, X, t0, t1) {
  const to = firstWhere(n.at.length, (i) => J.start[n.at[i].job] > Math.min(S.t, t1));
  const coreY = L.coreH / Math.max(n.cores, 1);
  ctx.textAlign = "left";
  for (let i = firstWhere(to, (k) => n.reach[k] > t0); i < to; i++) {
    const p = n.at[i], j = p.job, end = endOf(j);
    if (end <= t0) continue;
    const running = end > S.t, x = X(Math.max(J.start[j], t0 - 1)), mid = X(Math.min(end, S.t, t1 + 1));
    const kind = J.filler[j] ? "filler" : "ordered", w = Math.max(mid - x - (running ? 0 : 0.6), 1);
    const rest = running ? X(Math.min(plannedEnd(j), t1 + 1)) : 0, dim = S.hover >= 0 && S.hover !== j;
    ctx.globalAlpha = dim ? 0.45 : 1;
    for (let k = 0; k < p.rows.length; k += 2) {
      const y = L.top + dy + p.rows[k] * L.g + 0.5, h = p.rows[k + 1] * L.g - 1;
      if (rest > mid) { ctx.fillStyle = C[kind + "-rest"]; ctx.fillRect(mid, y, rest - mid, h); }
      bar(x, y, w, h, C[kind]);
      if (w > 26 && h >= 10) {
        ctx.fillStyle = C["on-bar"];
        ctx.font = "10.5px system-ui, sans-serif";
        if (ctx.measureText(J.id[j]).width < w - 8) ctx.fillText(J.id[j], x + 4, y + h / 2 + 0.5);
      }
    }
    const y = L.coreTop + dy + p.core * coreY, h = Math.max(p.cores * coreY - (coreY > 3 ? 0.5 : 0), 0.7);
    if (rest > mid) { ctx.fillStyle = C[kind + "-rest"]; ctx.fillRect(mid, y, rest - mid, h); }
    ctx.fillStyle = C[kind];
    ctx.fillRect(x, y, w, h);
    if (!n.gpus && w > 26 && h >= 11) {
      ctx.fillStyle = C["on-bar"];
      ctx.font = "10.5px system-ui, sans-serif";
      if (ctx.measureText(J.id[j]).width < w - 8) ctx.fillText(J.id[j], x + 4, y + h / 2 + 0.5);
    }
  }
  ctx.globalAlpha = 1;
}

function drawBooking(b, n, L, dy, X, t1) {
  const x = X(b.start), w = X(Math.min(b.end, t1 + 1)) - x, coreY = L.coreH / Math.max(n.cores, 1);
  if (w <= 0) return;
  const box = (y, h, label) => {
    ctx.globalAlpha = S.hover >= 0 && S.hover !== b.job ? 0.45 : 1;
    ctx.fillStyle = C["booking-bg"];
    ctx.fillRect(x, y, w, h);
    ctx.fillStyle = hatch;
    ctx.fillRect(x, y, w, h);
    ctx.strokeStyle = C.booking;
    ctx.lineWidth = S.hover === b.job ? 2 : 1;
    if (h > 3) ctx.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1, 1), Math.max(h - 1, 1));
    if (label && h >= 11) {
      ctx.font = "600 10.5px system-ui, sans-serif";
      const lw = ctx.measureText(J.id[b.job]).width;
      if (lw + 12 < w) {
        ctx.fillStyle = C["booking-bg"];
        ctx.fillRect(x + 3, y + h / 2 - 6, lw + 6, 12);
        ctx.fillStyle = C.booking;
        ctx.textAlign = "left";
        ctx.fillText(J.id[b.job], x + 6, y + h / 2 + 0.5);
      }
    }
    ctx.globalAlpha = 1;
  };
  for (let k = 0; k < b.rows.length; k += 2) box(L.top + dy + b.rows[k] * L.g + 0.5, b.rows[k + 1] * L.g - 1, true);
  for (let k = 0; k < b.coreRuns.length; k += 2) box(L.coreTop + dy + b.coreRuns[k] * coreY, Math.max(b.coreRuns[k + 1] * coreY, 1), !n.gpus);
}

function axis(t0, t1, X, gridStep, left, width) {
  ctx.fillStyle = C.panel;
  ctx.fillRect(0, 0, W, AXIS);
  ctx.fillStyle = C.line;
  ctx.fillRect(0, AXIS - 1, W, 1);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textAlign = "center";
  for (let t = Math.ceil(t0 / gridStep) * gridStep; t < t1; t += gridStep) {
    const x = X(t);
    if (x < left + 14 || x > left + width - 14 || Math.abs(x - X(S.t)) < 40) continue;
    ctx.fillStyle = C.dim;
    ctx.fillText(gridStep >= 86400 || t % 86400 === 0 ? clock(t).replace(/ 00:00$/, "") : clock(t, true), x, AXIS / 2);
  }
  const x = X(S.t);
  if (x >= left - 1 && x <= left + width + 1) {
    ctx.fillStyle = C.now;
    ctx.fillRect(x - 0.75, AXIS - 2, 1.5, H);
    const words = clock(S.t, true), w = ctx.measureText(words).width + 12;
    ctx.beginPath();
    ctx.roundRect(Math.min(Math.max(x - w / 2, left - 20), W - w), 3, w, 17, 4);
    ctx.fill();
    ctx.fillStyle = C["on-bar"];
    ctx.fillText(words, Math.min(Math.max(x, left - 20 + w / 2), W - w / 2), 12);
  }
}

/* The whole run in the slider's background: GPUs (or cores) in use, and the queue's length as a line. */
function measure(columns) {
  const used = new Float64Array(columns), dt = (D.to - D.from) / columns || 1, all = HAS_GPU ? "gpus" : "cpus";
  const total = HAS_GPU ? nodes.reduce((a, n) => a + n.gpus, 0) : nodes.reduce((a, n) => a + n.cores, 0);
  for (let j = 0; j < J.count; j++) {
    if (J.start[j] < 0 || J.submit[j] < 0 || !J[all][j]) continue;
    const a = (J.start[j] - D.from) / dt, b = (Math.min(endOf(j), D.to) - D.from) / dt;
    for (let i = Math.max(0, Math.floor(a)); i < Math.min(columns, b); i++)
      used[i] += J[all][j] * (Math.min(b, i + 1) - Math.max(a, i));
  }
  return used.map((v) => Math.min(1, v / total));
}
let backdrop = null;
function drawBackdrop(w, h) {
  backdrop = document.createElement("canvas");
  backdrop.width = over.width;
  backdrop.height = over.height;
  const g = backdrop.getContext("2d"), used = measure(Math.max(1, Math.floor(w)));
  g.scale(dpr, dpr);
  g.fillStyle = C.faint;
  g.fillRect(0, 0, w, h);
  g.fillStyle = C["ordered-rest"];
  used.forEach((v, i) => g.fillRect(i, h - v * h, 1, v * h));
  const most = D.looks.reduce((m, l) => Math.max(m, l[1]), 1);
  g.strokeStyle = C.dim;
  g.beginPath();
  for (const l of D.looks) g.lineTo((l[0] - D.from) / full * w, h - 1 - l[1] / most * (h - 3));
  g.stroke();
}
function drawOverview() {
  const w = over.width / dpr, h = over.height / dpr;
  if (!w) return;
  if (!backdrop) drawBackdrop(w, h);
  octx.setTransform(1, 0, 0, 1, 0, 0);
  octx.drawImage(backdrop, 0, 0);
  if (!Number($("window").value)) return;
  const [t0, t1] = view();
  octx.setTransform(dpr, 0, 0, dpr, 0, 0);
  octx.strokeStyle = C.ink;
  octx.lineWidth = 1;
  octx.strokeRect((t0 - D.from) / full * w + 0.5, 0.5, (t1 - t0) / full * w - 1, h - 1);
}

/* Which job is at this point of the canvas, -1 for none. */
function jobAt(px, py) {
  const [t0, t1] = view(), width = W - layout.left - PAD_R, t = t0 + (px - layout.left) / width * (t1 - t0), y = py + S.scroll;
  if (px < layout.left || py < AXIS) return -1;
  const i = firstWhere(nodes.length, (k) => layout[k].top + layout[k].h >= y), L = layout[i], n = nodes[i];
  if (!L || y < L.top) return -1;
  const gpu = n.gpus && y < L.coreTop ? Math.floor((y - L.top) / L.g) : -1;
  const core = y >= L.coreTop ? Math.floor((y - L.coreTop) / L.coreH * n.cores) : -1;
  const inRuns = (runs, k) => { for (let r = 0; r < runs.length; r += 2) if (k >= runs[r] && k < runs[r] + runs[r + 1]) return true; return false; };
  for (const b of placeBookings(lookAt(S.t)).get(i) || [])
    if (t >= b.start && t < b.end && (inRuns(b.rows, gpu) || inRuns(b.coreRuns, core))) return b.job;
  const to = firstWhere(n.at.length, (k) => J.start[n.at[k].job] > Math.min(t, S.t));
  for (let k = to - 1; k >= 0 && n.reach[k] > Math.min(t, S.t) - 1e-9; k--) {
    const p = n.at[k], end = endOf(p.job) > S.t ? Math.max(S.t, plannedEnd(p.job)) : endOf(p.job);
    if (t < J.start[p.job] || t >= end) continue;
    if (inRuns(p.rows, gpu) || (core >= p.core && core < p.core + p.cores)) return p.job;
  }
  return -1;
}
