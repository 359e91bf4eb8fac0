/*
 * run.js - the run that the page shows: its data by node and by time, how they are put in words, and
 * the moment shown
 *
 * The scripts go one behind another into one function (page.html), in the order of meson.build: each
 * builds on those before it, and no name of theirs is global.
 */

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
  const v = full / k, words = v >= 5400 ? (v / 3600).toFixed(1) + " h" : v >= 90 ? Math.round(v / 60) + " min" : v >= 1 ? v.toFixed(1) + " s" : v.toPrecision(2) + " s";
  $("speed").add(new Option(D.to > D.from ? words + " a second" : "-", v));
}
$("speed").selectedIndex = 1;
