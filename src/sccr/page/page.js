"use strict";
(() => {
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const J = D.jobs, N = D.nodes, HAS_GPU = N.some((n) => n[3].length);

/* ---- words ------------------------------------------------------------------------------------ */

const pad = (n) => String(n).padStart(2, "0");
const DATED = D.zero + D.from > 3e8;
function clock(t, brief) {
  const day = Math.floor(t / 86400), s = Math.floor(t - day * 86400);
  const hm = pad(Math.floor(s / 3600)) + ":" + pad(Math.floor(s / 60) % 60);
  if (!DATED)
    return brief ? hm : "day " + (day - Math.floor(D.from / 86400) + 1) + " " + hm;
  const d = new Date((D.zero + t) * 1000);
  const h = pad(d.getUTCHours()) + ":" + pad(d.getUTCMinutes());
  return brief ? h : d.getUTCDate() + " " + d.toLocaleString("en", {month: "short", timeZone: "UTC"}) + " " + h;
}
function span(s) {
  if (s === null) return "no limit";
  const sign = s < 0 ? "\u2212" : "", a = Math.abs(s), r = Math.round(a);
  if (a < 60) return sign + (Number.isInteger(a) ? a : a.toFixed(1)) + " s";
  if (r < 86400) return sign + Math.floor(r / 3600) + ":" + pad(Math.floor(r / 60) % 60) + ":" + pad(r % 60);
  return sign + Math.floor(r / 86400) + "d " + pad(Math.floor(r / 3600) % 24) + ":" + pad(Math.floor(r / 60) % 60);
}
const FORMAT = {
  count: (v) => v.toLocaleString("en"), seconds: span, ratio: (v) => v.toFixed(2),
  percent: (v) => v.toFixed(1) + " %", hours: (v) => v.toFixed(1) + " h",
};
const esc = (s) => String(s).replace(/[&<>"]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"}[c]));
const name = (list, i) => (i >= 0 ? list[i] : "");
function request(j, brief) {
  const words = [];
  if (J.gpus[j]) words.push(J.gpus[j] + (J.gpus[j] > 1 ? " GPUs" : " GPU"));
  words.push(J.cpus[j] + (J.cpus[j] > 1 ? " cores" : " core"));
  if (J.mem[j] && !brief) words.push(J.mem[j] >= 1024 ? Math.round(J.mem[j] / 1024) + " GiB" : J.mem[j] + " MiB");
  if (J.nodes[j] > 1) words.push(J.nodes[j] + " nodes");
  return words.join(", ");
}

/* ---- the run: places by node, looks by time ---------------------------------------------------- */

const nodes = N.map((n) => ({
  name: n[0], cores: n[1], gpus: n[3].reduce((a, g) => a + g[1], 0), type: n[3].map((g) => g[0]).join(", "), at: [],
}));
const P = D.places;
for (let i = 0; i < P.length; i += 6) {
  const rows = [];
  for (let bit = 0, from = -1; bit <= 64; bit++) {
    const on = bit < 64 && ((bit < 32 ? P[i + 2] >>> bit : P[i + 3] >>> (bit - 32)) & 1);
    if (on && from < 0) from = bit;
    if (!on && from >= 0) { rows.push(from, bit - from); from = -1; }
  }
  nodes[P[i + 1]].at.push({job: P[i], rows, core: P[i + 4], cores: P[i + 5]});
}
const endOf = (j) => (J.end[j] >= 0 ? J.end[j] : Infinity);
for (const n of nodes) {
  /* at[] is in order of start; reach[i] is the latest end up to i, so that a search skips what is over */
  n.reach = new Float64Array(n.at.length);
  let most = -Infinity;
  n.at.forEach((p, i) => { most = Math.max(most, endOf(p.job)); n.reach[i] = most; });
}
/* first index for which test holds, test being false and then true */
function firstWhere(count, test) {
  let lo = 0, hi = count;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (test(mid)) hi = mid; else lo = mid + 1;
  }
  return lo;
}
const lookAt = (t) => firstWhere(D.looks.length, (i) => D.looks[i][0] > t) - 1;
const plannedEnd = (j) => (J.limit[j] === null ? Infinity : J.start[j] + J.limit[j]);

/* ---- state ------------------------------------------------------------------------------------- */

const S = {t: D.from, playing: false, hover: -1, node: -1, scroll: 0};
const SPANS = [[3600, "1 h"], [6 * 3600, "6 h"], [12 * 3600, "12 h"], [86400, "1 day"], [2 * 86400, "2 days"], [7 * 86400, "1 week"]]
  .filter((x) => x[0] < (D.to - D.from) * 1.4);
SPANS.push([0, "all"]);
for (const [v, words] of SPANS) $("window").add(new Option(words, v));
$("window").value = D.to - D.from > 3 * 86400 ? 86400 * 2 : 0;
const full = Math.max(D.to - D.from, 1);
for (const k of [120, 60, 30, 10]) {
  const v = full / k;
  $("speed").add(new Option(v >= 5400 ? (v / 3600).toFixed(1) + " h a second" : v >= 90 ? Math.round(v / 60) + " min a second" : v.toFixed(1) + " s a second", v));
}
$("speed").selectedIndex = 1;

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
  const gridStep = step(width, t1 - t0), off = DATED ? 0 : 0;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, AXIS, width, H - AXIS);
  ctx.clip();
  for (let t = Math.ceil((t0 + off) / gridStep) * gridStep; t < t1; t += gridStep) {
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

/* ---- queue ------------------------------------------------------------------------------------- */

let queueLook = -2, rows = [];
function drawQueue() {
  const look = lookAt(S.t);
  if (look === queueLook) return;
  queueLook = look;
  const list = $("queue"), L = look < 0 ? [D.from, 0, [], []] : D.looks[look], v = D.rowValues;
  const booked = new Map(L[2].map((i) => [D.bookings[i][0], D.bookings[i][1]]));
  rows = [];
  for (let k = 0; k < L[3].length; k += v) rows.push(L[3].slice(k, k + v));
  let last = -1;
  rows.forEach((r, i) => { if (booked.has(r[0])) last = i; });
  $("queue-count").textContent = L[1] ? L[1] + " waiting" + (booked.size ? ", " + booked.size + " booked" : "") : "empty";
  const html = [];
  rows.forEach((r, i) => {
    const j = r[0], b = booked.has(j), who = name(D.accounts, J.account[j]) || name(D.users, J.user[j]);
    html.push(`<li tabindex="${i ? -1 : 0}" data-job="${j}" data-row="${i}" class="${b ? "booked" : ""}"><span class="rank">${i + 1}</span>` +
      `<span class="who"><b>${esc(J.id[j])}</b> <small>${esc(who)}</small></span>` +
      `<span class="num">${v > 1 ? r[1].toLocaleString("en") : ""}</span>` +
      `<span class="ask">${request(j, true)}, ${span(J.limit[j])}</span>` +
      `<span class="when">${b ? "booked " + clock(booked.get(j), booked.get(j) - S.t < 86400 && booked.get(j) >= S.t) : "waits " + span(Math.max(0, L[0] - J.submit[j]))}</span></li>`);
    if (i === last) html.push(`<li class="cut" aria-hidden="true">bookings end here</li>`);
  });
  list.innerHTML = html.join("");
  $("queue-more").textContent = L[1] > rows.length ? "and " + (L[1] - rows.length) + " more" : "";
}

/* ---- a job's terms ------------------------------------------------------------------------------ */

function terms(j, row) {
  if (!D.columns.length) return "";
  const at = (k) => (row ? row[2 + k] : J["term" + k][j]), out = [];
  D.columns.forEach((c, k) => { if (at(k)) out.push(`<tr><td>${c}</td><td>${at(k).toLocaleString("en", {maximumFractionDigits: 3})}</td></tr>`); });
  const total = row ? row[1] : J.score[j];
  return `<table><tbody>${out.join("")}<tr class="sum"><td>priority ${row ? "now" : "at its start"}</td><td>${total.toLocaleString("en")}</td></tr></tbody></table>`;
}
function describe(j, row, booking) {
  const who = [name(D.users, J.user[j]), name(D.accounts, J.account[j])].filter(Boolean).join(", ");
  const started = J.start[j] >= 0 && J.start[j] <= S.t;
  const lines = [`<h3>Job ${esc(J.id[j])}</h3>`, `<p>${who ? esc(who) + "<br>" : ""}${request(j)}, limit ${span(J.limit[j])}</p>`];
  const facts = [["submitted", clock(J.submit[j])]];
  if (started) {
    facts.push([J.filler[j] ? "started as a filler" : "started in order", clock(J.start[j])], ["waited", span(J.start[j] - J.submit[j])]);
    if (J.first[j] >= 0) facts.push(["first estimate", clock(J.first[j])]);
    facts.push(endOf(j) <= S.t ? ["ended", clock(J.end[j])] : ["ends by", plannedEnd(j) === Infinity ? "no limit" : clock(plannedEnd(j))]);
  } else {
    facts.push(["has waited", span(Math.max(0, S.t - J.submit[j]))]);
    if (booking !== undefined) facts.push(["booked for", clock(booking)]);
  }
  lines.push(`<table><tbody>${facts.map((f) => `<tr><td>${f[0]}</td><td>${f[1]}</td></tr>`).join("")}</tbody></table>`, terms(j, started ? null : row));
  return lines.join("");
}
function bookingStart(j) {
  const look = lookAt(S.t);
  const i = look < 0 ? undefined : D.looks[look][2].find((k) => D.bookings[k][0] === j);
  return i === undefined ? undefined : D.bookings[i][1];
}
function rowOf(j) { return rows.find((r) => r[0] === j); }
function tip(j, x, y) {
  const el = $("tip");
  if (j < 0) { el.hidden = true; return; }
  el.innerHTML = describe(j, rowOf(j), bookingStart(j));
  el.hidden = false;
  const w = el.offsetWidth, h = el.offsetHeight;
  el.style.left = Math.max(6, x + 16 + w > innerWidth ? x - w - 14 : x + 16) + "px";
  el.style.top = Math.max(6, Math.min(y + 12, innerHeight - h - 6)) + "px";
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

/* ---- figures ------------------------------------------------------------------------------------ */

const FIGURES = [
  ["jobs", "jobs started", "count"], ["fillers", "fillers among them", "count"], ["wait_mean", "wait, mean", "seconds"],
  ["wait_median", "wait, median", "seconds"], ["wait_p95", "wait, 95 %", "seconds"], ["wait_max", "wait, longest", "seconds"],
  ["slowdown_mean", "bounded slowdown, mean", "ratio"], ["slowdown_p95", "bounded slowdown, 95 %", "ratio"],
  ["makespan", "first submission to last end", "seconds"], ["cpu_utilisation", "cores in use", "percent"],
  ["gpu_utilisation", "GPUs in use", "percent"], ["gpu_idle_while_waiting", "GPUs idle while a GPU job waits", "percent"],
  ["gpu_idle_while_waiting_hours", "the same in GPU hours", "hours"], ["gpu_fragmentation", "idle GPUs on partly used nodes", "percent"],
  ["gpu_stranded", "idle GPUs without a core or memory", "percent"], ["queue_mean", "queue length, mean", "ratio"],
  ["estimates", "jobs that had a booking", "count"], ["estimate_error_mean", "start estimate, mean error", "seconds"],
  ["estimate_error_p95", "start estimate, 95 % of errors", "seconds"], ["estimates_late", "started after the first estimate", "count"],
];
function cell(run, key, kind) {
  return `<td data-run="${esc(run.scheduler)}" data-figure="${key}" data-value="${run[key]}" title="${run[key]}">${FORMAT[kind](run[key])}</td>`;
}
function tables() {
  const R = D.runs, main = R[0], shown = FIGURES.filter((f) => HAS_GPU || !f[0].startsWith("gpu_"));
  const brief = {fillers: "of them fillers", gpu_idle_while_waiting: "GPUs idle, jobs wait"};
  const cards = HAS_GPU
    ? ["jobs", "fillers", "wait_mean", "wait_median", "wait_p95", "gpu_utilisation", "gpu_idle_while_waiting", "cpu_utilisation"]
    : ["jobs", "fillers", "wait_mean", "wait_median", "wait_p95", "slowdown_mean", "cpu_utilisation"];
  $("cards").innerHTML = cards.map((key) => {
    const f = FIGURES.find((x) => x[0] === key);
    return `<div class="card"><b data-card="${key}" data-value="${main[key]}">${FORMAT[f[2]](main[key])}</b><span>${brief[key] || f[1]}</span></div>`;
  }).join("");
  const all = `<div class="table"><table><caption>Figures</caption><thead><tr><th></th>${R.map((r) => `<th scope="col">${esc(r.scheduler)}</th>`).join("")}</tr></thead><tbody>` +
    shown.map((f) => `<tr><th scope="row">${f[1]}</th>${R.map((r) => cell(r, f[0], f[2])).join("")}</tr>`).join("") + "</tbody></table></div>";
  const group = (key, title) => main[key].length ? `<div class="table"><table><caption>${title}</caption><thead><tr><th></th><th scope="col">jobs</th><th scope="col">wait, mean</th><th scope="col">median</th><th scope="col">95 %</th><th scope="col">slowdown</th>` +
    `<th scope="col">core share</th>${HAS_GPU ? "<th scope=\"col\">GPU share</th>" : ""}</tr></thead><tbody>` +
    main[key].map((g) => `<tr><th scope="row">${esc(g.name)}</th><td>${FORMAT.count(g.jobs)}</td><td>${span(g.wait_mean)}</td><td>${span(g.wait_median)}</td><td>${span(g.wait_p95)}</td><td>${g.slowdown_mean.toFixed(2)}</td>` +
      `<td>${FORMAT.percent(g.cpu_share)}</td>${HAS_GPU ? `<td>${FORMAT.percent(g.gpu_share)}</td>` : ""}</tr>`).join("") + "</tbody></table></div>" : "";
  $("tables").innerHTML = all + "<div>" + group("groups", "By group") + (main.groups.length ? "<p></p>" : "") + group("sizes", "By size") + "</div>";
}

/* ---- the hand on it ----------------------------------------------------------------------------- */

let wanted = false;
function refresh() {
  if (wanted) return;
  wanted = true;
  requestAnimationFrame(() => { wanted = false; paint(); });
}
let queueDrawn = 0;
function paint() {
  draw();
  drawOverview();
  /* a list that changes sixty times a second is for nobody to read */
  if (!S.playing || performance.now() - queueDrawn > 150) { drawQueue(); queueDrawn = performance.now(); }
  $("clock").textContent = clock(S.t);
  $("slider").value = (S.t - D.from) / full * 1000;
  $("slider").setAttribute("aria-valuetext", clock(S.t));
}
function counts() {
  const look = lookAt(S.t), L = look < 0 ? null : D.looks[look];
  let running = 0;
  for (let j = 0; j < J.count; j++) running += J.start[j] >= 0 && J.start[j] <= S.t && endOf(j) > S.t;
  return {running, queued: L ? L[1] : 0, booked: L ? L[2].length : 0};
}
function say(words) {
  if (words) { $("say").textContent = words; return; }
  const c = counts();
  $("say").textContent = `${clock(S.t)}: ${c.running} running, ${c.queued} waiting, ${c.booked} booked`;
}
function go(t, quiet) {
  S.t = Math.min(Math.max(t, D.from), D.to);
  refresh();
  if (!quiet && !S.playing) say();
}
function stepLook(by) {
  const i = Math.min(Math.max(lookAt(S.t) + by, 0), D.looks.length - 1);
  if (D.looks.length) go(D.looks[i][0]);
}
let before = 0;
function play(on) {
  S.playing = on;
  $("play").textContent = on ? "Pause" : "Play";
  $("play").setAttribute("aria-pressed", String(on));
  if (!on) { say(); return; }
  if (S.t >= D.to) S.t = D.from;
  before = performance.now();
  requestAnimationFrame(frame);
}
function frame(now) {
  if (!S.playing) return;
  S.t = Math.min(D.to, S.t + (now - before) / 1000 * Number($("speed").value));
  before = now;
  paint();
  if (S.t >= D.to) play(false); else requestAnimationFrame(frame);
}
function zoom(by) {
  const w = $("window");
  w.selectedIndex = Math.min(Math.max(w.selectedIndex + by, 0), w.options.length - 1);
  refresh();
}
function readNode() {
  const n = nodes[S.node];
  if (!n) return;
  const here = n.at.filter((p) => J.start[p.job] <= S.t && endOf(p.job) > S.t), jobs = [...new Set(here.map((p) => p.job))];
  const gpus = here.reduce((a, p) => { for (let k = 1; k < p.rows.length; k += 2) a += p.rows[k]; return a; }, 0);
  const cores = here.reduce((a, p) => a + p.cores, 0);
  const books = (placeBookings(lookAt(S.t)).get(S.node) || []).map((b) => `job ${J.id[b.job]} booked for ${clock(b.start)}`);
  say(`${n.name} at ${clock(S.t)}: ${n.gpus ? gpus + " of " + n.gpus + " GPUs, " : ""}${cores} of ${n.cores} cores in use. ` +
    (jobs.length ? jobs.map((j) => `job ${J.id[j]}${J.filler[j] ? ", a filler" : ""}`).join("; ") : "nothing runs") +
    (books.length ? ". " + books.join("; ") : "") + ".");
}

$("title").textContent = D.title;
document.title = D.title + " \u2013 sccr simulate";
const gpus = nodes.reduce((a, n) => a + n.gpus, 0), types = [...new Set(nodes.map((n) => n.type).filter((t) => t && t !== "gpu"))];
$("what").textContent = [
  `${D.scheduler}, ${D.policy}`, `${nodes.length} nodes, ${nodes.reduce((a, n) => a + n.cores, 0).toLocaleString("en")} cores` + (gpus ? `, ${gpus} ${types.length === 1 ? types[0] + " " : ""}GPUs` : ""),
  D.cycle ? `a cycle every ${D.cycle} s` : "a cycle at every change", D.depth >= 0 ? `${D.depth} bookings a partition` : "",
  D.runs[0].complete ? "" : "interrupted: figures up to then",
].filter(Boolean).join(" \u00b7 ");
$("foot").textContent = `sccr simulate ${D.version}. Times are ${DATED ? "UTC" : "counted from the workload's start"}. Bars left of the red line are what happened, right of it what the scheduler expects: limits and bookings.`;

$("rows").textContent = HAS_GPU ? "a row a GPU, below: cores" : "";

$("play").onclick = () => play(!S.playing);
$("back").onclick = () => { play(false); stepLook(-1); };
$("forth").onclick = () => { play(false); stepLook(1); };
$("slider").oninput = () => { if (S.playing) play(false); go(D.from + Number($("slider").value) / 1000 * full, true); };
$("slider").onchange = () => say();
$("slider").onkeydown = (e) => {
  const by = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -30, PageUp: 30}[e.key];
  if (by) { stepLook(by); e.preventDefault(); e.stopPropagation(); }
};
$("window").onchange = refresh;
$("scroll").onscroll = () => { S.scroll = $("scroll").scrollTop; refresh(); };
function theme(dark) { document.documentElement.classList.toggle("dark", dark); arrange(); refresh(); }
const prefers = matchMedia("(prefers-color-scheme: dark)");
let chosen = false;
prefers.onchange = () => { if (!chosen) theme(prefers.matches); };
$("theme").onclick = () => { chosen = true; theme(!document.documentElement.classList.contains("dark")); };

canvas.onmousemove = (e) => {
  const r = canvas.getBoundingClientRect(), j = jobAt(e.clientX - r.left, e.clientY - r.top);
  if (j !== S.hover) { S.hover = j; refresh(); }
  tip(j, e.clientX, e.clientY);
};
canvas.onmouseleave = () => { S.hover = -1; tip(-1); refresh(); };
canvas.onclick = (e) => {
  const r = canvas.getBoundingClientRect(), [t0, t1] = view(), x = e.clientX - r.left;
  if (x > layout.left && e.clientY - r.top < AXIS) go(t0 + (x - layout.left) / (W - layout.left - PAD_R) * (t1 - t0));
};
canvas.onkeydown = (e) => {
  const up = {ArrowUp: -1, ArrowDown: 1}[e.key];
  if (up) {
    S.node = Math.min(Math.max(S.node + up, 0), nodes.length - 1);
    const L = layout[S.node];
    if (L.top - S.scroll < AXIS) $("scroll").scrollTop = L.top - AXIS - 4;
    else if (L.top + L.h - S.scroll > H) $("scroll").scrollTop = L.top + L.h - H + 6;
    readNode();
    refresh();
    e.preventDefault();
  } else if (e.key === "Enter") { readNode(); e.preventDefault(); }
};
$("queue").addEventListener("mousemove", (e) => {
  const li = e.target.closest("li[data-job]"), j = li ? Number(li.dataset.job) : -1;
  if (j !== S.hover) { S.hover = j; refresh(); }
  tip(j, e.clientX, e.clientY);
});
$("queue").addEventListener("mouseleave", () => { S.hover = -1; tip(-1); refresh(); });
$("queue").addEventListener("focusin", (e) => {
  const li = e.target.closest("li[data-job]");
  if (!li) return;
  const r = li.getBoundingClientRect();
  S.hover = Number(li.dataset.job);
  tip(S.hover, r.left - 340, r.top);
  say($("tip").innerText.replace(/\s+/g, " "));
  refresh();
});
$("queue").addEventListener("focusout", () => { S.hover = -1; tip(-1); refresh(); });
$("queue").addEventListener("keydown", (e) => {
  const by = {ArrowDown: 1, ArrowUp: -1}[e.key], items = [...$("queue").querySelectorAll("li[data-job]")];
  if (!by) return;
  const next = items[items.indexOf(document.activeElement) + by];
  if (next) next.focus();
  e.preventDefault();
});
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(SELECT|INPUT)$/.test(e.target.tagName)) return;
  if (e.key === " " && e.target.tagName !== "BUTTON") { play(!S.playing); e.preventDefault(); }
  else if (e.key === "ArrowLeft" && !e.target.closest("#queue")) { play(false); stepLook(-1); e.preventDefault(); }
  else if (e.key === "ArrowRight" && !e.target.closest("#queue")) { play(false); stepLook(1); e.preventDefault(); }
  else if (e.key === "Home") { go(D.from); e.preventDefault(); }
  else if (e.key === "End") { go(D.to); e.preventDefault(); }
  else if (e.key === "+" || e.key === "=") zoom(-1);
  else if (e.key === "-") zoom(1);
  else if (e.key === "Escape") { S.hover = -1; tip(-1); refresh(); }
});
new ResizeObserver(() => { arrange(); refresh(); }).observe($("machine"));

tables();
/* #t=SECONDS opens the page at a moment, #dark in the dark */
const at = /[#&]t=([\d.]+)/.exec(location.hash);
S.t = at ? Math.min(Math.max(Number(at[1]), D.from), D.to) : D.from + full * 0.35;
document.documentElement.classList.toggle("dark", /[#&]dark/.test(location.hash) || (prefers.matches && !/[#&]light/.test(location.hash)));
arrange();
paint();
window.sccr = {data: D, state: S, go, play, counts, view, draw, drawQueue, drawOverview};
})();
