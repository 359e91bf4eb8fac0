/*
 * page.js - what stands around the picture (queue, a job's terms, figures), and the hand on it: mouse,
 * keys, playing
 */

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
/* what a figure that is null lacks */
const LACKING = [[/^gpu_(frag|strand)/, "the log does not say on which nodes jobs ran"], [/^estimate/, "nobody had a booking"],
  [/^(wait|slowdown)/, "no job started"], [/./, "no time has passed"]];
function lacking(key) { return LACKING.find((x) => x[0].test(key))[1]; }
function shown(value, kind) { return value === null ? "-" : FORMAT[kind](value); }
function cell(run, key, kind) {
  return `<td data-run="${esc(run.scheduler)}" data-figure="${key}" data-value="${run[key]}" title="${run[key] ?? lacking(key)}">${shown(run[key], kind)}</td>`;
}
function tables() {
  const R = D.runs, main = R[0], listed = FIGURES.filter((f) => HAS_GPU || !f[0].startsWith("gpu_"));
  const brief = {fillers: "of them fillers", gpu_idle_while_waiting: "GPUs idle, jobs wait"};
  const cards = HAS_GPU
    ? ["jobs", "fillers", "wait_mean", "wait_median", "wait_p95", "gpu_utilisation", "gpu_idle_while_waiting", "cpu_utilisation"]
    : ["jobs", "fillers", "wait_mean", "wait_median", "wait_p95", "slowdown_mean", "cpu_utilisation"];
  $("cards").innerHTML = cards.map((key) => {
    const f = FIGURES.find((x) => x[0] === key);
    return `<div class="card"><b data-card="${key}" data-value="${main[key]}">${shown(main[key], f[2])}</b><span>${brief[key] || f[1]}</span></div>`;
  }).join("");
  const all = `<div class="table"><table><caption>Figures</caption><thead><tr><th></th>${R.map((r) => `<th scope="col">${esc(r.scheduler)}</th>`).join("")}</tr></thead><tbody>` +
    listed.map((f) => `<tr><th scope="row">${f[1]}</th>${R.map((r) => cell(r, f[0], f[2])).join("")}</tr>`).join("") + "</tbody></table></div>";
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
