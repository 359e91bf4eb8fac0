"""The page of `sccr simulate --html` in a real headless Chromium: it plays, its numbers are the JSON's, and
it can be used by keyboard."""
import json
import math
import re
import shutil
import subprocess
import time

import pytest

from conftest import REPO

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver")


def make_page(sccr, folder, jobs=300, days=2, cluster=f"{REPO}/examples/aqua-cluster.conf", schedulers="ccr,easy"):
    page = folder / "page.html"
    work = subprocess.run([f"{REPO}/examples/aqua-days.py", "--jobs", str(jobs), "--days", str(days)], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    r = sccr("simulate", "-c", cluster, "-p", f"{REPO}/examples/aqua-groups.json", "-s", schedulers, "--cycle", "60",
             "--json", "--html", page, "--title", "Days <b> & </script> nights", "-", input=work)
    assert r.returncode == 0, r.stderr
    return page, json.loads(r.stdout)


@pytest.fixture(scope="module")
def days(sccr, tmp_path_factory):
    return make_page(sccr, tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    o = Options()
    o.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1400,1000", f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        o.add_argument(argument)
    o.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=o)
    driver.set_script_timeout(120)
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium, days):
    """The page, opened anew; at the end its console must be empty."""
    chromium.get("about:blank")
    chromium.get(f"file://{days[0]}#light")
    yield chromium
    assert chromium.get_log("browser") == []


def span(s):
    """Seconds as the page shows them."""
    a, r = abs(s), math.floor(abs(s) + 0.5)
    if a < 60:
        return f"{int(a)} s" if a == int(a) else f"{a:.1f} s"
    if r < 86400:
        return f"{r // 3600}:{r // 60 % 60:02}:{r % 60:02}"
    return f"{r // 86400}d {r // 3600 % 24:02}:{r // 60 % 60:02}"


def test_self_contained(days):
    text = days[0].read_text()
    code = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    assert not re.search(r'(src|href)="(?!data:)', code) and "http" not in code and "@" + "DATA@" not in text
    assert text.count("</script>") == 2  # the title's is escaped


def test_numbers_are_the_jsons(browser, days):
    runs = {r["scheduler"]: r for r in days[1]["runs"]}
    assert list(runs) == ["ccr", "easy"]
    assert json.loads(browser.execute_script("return JSON.stringify(sccr.data.runs)")) == days[1]["runs"]
    cells = browser.find_elements(By.CSS_SELECTOR, "td[data-figure]")
    assert len(cells) >= 2 * 18
    for cell in cells:
        value = runs[cell.get_attribute("data-run")][cell.get_attribute("data-figure")]
        assert float(cell.get_attribute("data-value")) == value
        figure = cell.get_attribute("data-figure")
        if figure.startswith(("wait", "makespan", "estimate_error")):
            assert cell.text == span(value), figure
        elif figure in ("jobs", "fillers", "estimates"):
            assert cell.text == f"{value:,}"
        elif figure.startswith(("cpu_u", "gpu_u", "gpu_f", "gpu_s")):
            assert cell.text == f"{value:.1f} %"
    for card in browser.find_elements(By.CSS_SELECTOR, "[data-card]"):
        assert float(card.get_attribute("data-value")) == runs["ccr"][card.get_attribute("data-card")]
    rows = browser.find_elements(By.CSS_SELECTOR, "#tables > div:nth-child(2) tbody tr")
    named = {r.find_element(By.TAG_NAME, "th").text: r.find_elements(By.TAG_NAME, "td") for r in rows}
    for group in runs["ccr"]["groups"] + runs["ccr"]["sizes"]:
        assert named[group["name"]][0].text == str(group["jobs"])
        assert named[group["name"]][1].text == span(group["wait_mean"])


def test_without_bookings_there_are_no_errors_of_them(sccr, chromium, tmp_path):
    page, run = make_page(sccr, tmp_path, jobs=20, days=1, schedulers="fcfs,easy")
    chromium.get(f"file://{page}")
    cells = {c.get_attribute("data-run"): c.text
             for c in chromium.find_elements(By.CSS_SELECTOR, 'td[data-figure="estimate_error_mean"]')}
    assert run["runs"][0]["estimate_error_mean"] is None
    assert cells["fcfs"] == "-" and chromium.get_log("browser") == []


def test_the_log_says_nothing_of_nodes(sccr, chromium, tmp_path):
    work, page = tmp_path / "log.csv", tmp_path / "page.html"
    work.write_text("submit,runtime,cpus,gpus,wait\n0,100,1,3,0\n0,100,1,3,10\n")
    assert sccr("simulate", "-N", "2", "--cpus", "4", "--gpus", "4", "-s", "recorded,ccr", "--html", page, work).returncode == 0
    chromium.get(f"file://{page}")
    for figure in ("gpu_fragmentation", "gpu_stranded"):
        of_log, of_ccr = chromium.find_elements(By.CSS_SELECTOR, f'td[data-figure="{figure}"]')
        assert of_log.text == "-" and "on which nodes" in of_log.get_attribute("title") and of_ccr.text.endswith(" %")
    assert chromium.get_log("browser") == []


def test_interrupted_before_the_first_start(sccr, chromium, tmp_path):
    """The page of such a run: nothing has started, and no time has passed."""
    page, _ = make_page(sccr, tmp_path, jobs=20, days=1, schedulers="ccr")
    head, data, tail = re.fullmatch(r'(.*<script type="application/json" id="data">)(.*?)(</script>.*)', page.read_text(), re.S).groups()
    data = json.loads(data)
    of_none = {k for k in data["runs"][0] if k.startswith(("wait_", "slowdown_"))} | {"makespan", "cpu_utilisation", "gpu_utilisation", "queue_mean"}
    data["runs"][0].update({k: None for k in of_none} | {"jobs": 0, "complete": False, "groups": [], "sizes": []})
    data.update(to=0, looks=[], bookings=[], places=[], **{"from": 0})
    data["jobs"].update({k: [] for k, v in data["jobs"].items() if isinstance(v, list)}, count=0)
    page.write_text(head + json.dumps(data).replace("</", "<\\/") + tail)
    chromium.get(f"file://{page}")
    for figure in of_none - {"slowdown_median"}:
        cell = chromium.find_element(By.CSS_SELECTOR, f'td[data-figure="{figure}"]')
        assert cell.text == "-" and cell.get_attribute("title") in ("no job started", "no time has passed"), figure
    assert chromium.find_element(By.CSS_SELECTOR, '[data-card="wait_mean"]').text == "-"
    assert {o.text for o in chromium.find_elements(By.CSS_SELECTOR, "#speed option")} == {"-"}
    assert chromium.get_log("browser") == []


def test_speeds_of_a_short_run(sccr, chromium, tmp_path):
    work, page = tmp_path / "work.csv", tmp_path / "page.html"
    work.write_text("submit,runtime,cpus\n0,2,1\n")
    assert sccr("simulate", "-N", "1", "--html", page, work).returncode == 0
    chromium.get(f"file://{page}")
    assert [o.text for o in chromium.find_elements(By.CSS_SELECTOR, "#speed option")] == \
        [f"{v} s a second" for v in ("0.017", "0.033", "0.067", "0.20")]
    assert chromium.get_log("browser") == []


def test_waits_follow_from_the_jobs_on_the_page(browser, days):
    """The picture's own data comes to the figures beside it."""
    mean, fillers = browser.execute_script(
        "const j = sccr.data.jobs; let w = 0, f = 0, n = 0;"
        "for (let i = 0; i < j.count; i++) if (j.start[i] >= 0) { w += j.start[i] - j.submit[i]; f += j.filler[i]; n++; }"
        "return [w / n, f];")
    assert mean == pytest.approx(days[1]["runs"][0]["wait_mean"], abs=0.001)
    assert fillers == days[1]["runs"][0]["fillers"]


def test_places_never_overlap(browser):
    """No GPU and no core of a node is drawn for two jobs at once, and each job has what it asked for."""
    assert browser.execute_script("""
      const D = sccr.data, J = D.jobs, P = D.places, by = new Map(), got = new Map();
      for (let i = 0; i < P.length; i += 6) {
        const add = (what) => { const k = P[i + 1] + what; if (!by.has(k)) by.set(k, []); by.get(k).push([J.start[P[i]], J.end[P[i]]]); };
        let n = 0;
        for (let b = 0; b < 64; b++) if ((b < 32 ? P[i + 2] >>> b : P[i + 3] >>> (b - 32)) & 1) { add("g" + b); n++; }
        for (let c = 0; c < P[i + 5]; c++) add("c" + (P[i + 4] + c));
        const g = got.get(P[i]) || [0, 0];
        got.set(P[i], [g[0] + n, g[1] + P[i + 5]]);
      }
      let bad = 0;
      for (const list of by.values()) { list.sort((a, b) => a[0] - b[0]); for (let i = 1; i < list.length; i++) bad += list[i][0] < list[i - 1][1]; }
      for (const [j, g] of got) bad += g[0] !== J.gpus[j] || g[1] !== J.cpus[j];
      return [bad, got.size, by.size > 68];""") == [0, 300, True]


def wait_for(browser, script, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if browser.execute_script("return " + script):
            return True
        time.sleep(0.1)
    return False


def test_plays_pauses_and_ends(browser):
    before = browser.execute_script("return sccr.state.t")
    button = browser.find_element(By.ID, "play")
    button.click()
    assert button.text == "Pause" and button.get_attribute("aria-pressed") == "true"
    assert wait_for(browser, f"sccr.state.t > {before} + 600")
    clock = browser.find_element(By.ID, "clock").text
    assert re.fullmatch(r"day \d+ \d\d:\d\d", clock)
    button.click()
    stopped = browser.execute_script("return sccr.state.t")
    time.sleep(0.5)
    assert browser.execute_script("return sccr.state.t") == stopped
    assert "running" in browser.find_element(By.ID, "say").text or \
        "running" in browser.execute_script("return document.getElementById('say').textContent")
    browser.execute_script("sccr.go(sccr.data.to - 60); sccr.play(true)")
    assert wait_for(browser, "!sccr.state.playing && sccr.state.t === sccr.data.to")
    assert browser.find_element(By.ID, "queue-count").text == "empty"


def test_something_is_drawn_and_moves(browser):
    shot = "const c = document.getElementById('nodes'); return c.toDataURL()"
    browser.execute_script("sccr.go(66000)")
    time.sleep(0.3)
    first = browser.execute_script(shot)
    colours = browser.execute_script("""
      const c = document.getElementById('nodes'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, n = {};
      for (let i = 0; i < d.length; i += 4) { const k = d[i] + ',' + d[i + 1] + ',' + d[i + 2]; n[k] = (n[k] || 0) + 1; }
      return n""")
    for kind in ("53,101,181", "47,157,105", "195,210,236"):  # ordered, filler, up to the limit
        assert colours.get(kind, 0) > 500, kind
    browser.execute_script("sccr.go(90000)")
    time.sleep(0.3)
    assert browser.execute_script(shot) != first


def test_queue_and_the_line_where_bookings_end(browser):
    look = browser.execute_script("""
      const D = sccr.data; const i = D.looks.findIndex((l) => l[1] > 8 && l[2].length === 5);
      sccr.go(D.looks[i][0]); return {t: D.looks[i][0], queued: D.looks[i][1], booked: D.looks[i][2].map((b) => D.jobs.id[D.bookings[b][0]]),
        rows: D.looks[i][3].filter((v, k) => k % D.rowValues === 0).map((j) => D.jobs.id[j]),
        priority: D.looks[i][3].filter((v, k) => k % D.rowValues === 1)};""")
    time.sleep(0.3)
    items = browser.find_elements(By.CSS_SELECTOR, "#queue li")
    words = [li.text for li in items]
    line = words.index("bookings end here")
    ids = [li.find_element(By.CSS_SELECTOR, ".who b").text for li in items if li.get_attribute("data-job")]
    assert ids == look["rows"]
    assert sorted(li.find_element(By.CSS_SELECTOR, "b").text for li in items
                  if "booked" in li.get_attribute("class")) == sorted(look["booked"])
    last = max(ids.index(b) for b in look["booked"])
    assert line == last + 1
    assert look["priority"] == sorted(look["priority"], reverse=True)
    assert browser.find_element(By.ID, "queue-count").text == f"{look['queued']} waiting, 5 booked"


def test_hover_shows_terms_that_add_up(browser):
    browser.execute_script("sccr.go(66000)")
    time.sleep(0.3)
    item = browser.find_element(By.CSS_SELECTOR, "#queue li[data-job]")
    webdriver.ActionChains(browser).move_to_element(item).perform()
    tip = browser.find_element(By.ID, "tip")
    assert tip.is_displayed() and tip.text.startswith("Job ")
    rows = [r.text.rsplit(" ", 1) for r in tip.find_elements(By.CSS_SELECTOR, "table:last-child tr")]
    assert rows[-1][0] == "priority now" and "SITE" in dict(rows)
    number = {k: float(v.replace(",", "")) for k, v in rows}
    assert sum(v for k, v in number.items() if k != "priority now") == pytest.approx(number["priority now"], abs=1)
    # over the canvas, a running job
    where = browser.execute_script("""
      const box = document.getElementById('nodes').getBoundingClientRect(); return [box.left, box.top, box.width, box.height]""")
    found = 0
    for x in (0.3, 0.36, 0.4):
        for y in (0.08, 0.2, 0.3):
            webdriver.ActionChains(browser).move_by_offset(0, 0).perform()
            canvas = browser.find_element(By.ID, "nodes")
            webdriver.ActionChains(browser).move_to_element_with_offset(
                canvas, int(where[2] * (x - 0.5)), int(where[3] * (y - 0.5))).perform()
            found += tip.is_displayed() and "started" in tip.text
    assert found >= 2


def test_keyboard_and_screen_reader(browser):
    assert browser.execute_script("return document.documentElement.lang") == "en"
    for selector in ("#play", "#back", "#forth", "#slider", "#nodes", "#theme", "#speed", "#window"):
        e = browser.find_element(By.CSS_SELECTOR, selector)
        assert e.accessible_name, selector
    body = browser.find_element(By.TAG_NAME, "body")
    before = browser.execute_script("return sccr.state.t")
    body.send_keys(Keys.ARROW_RIGHT)
    assert browser.execute_script("return sccr.state.t") > before
    body.send_keys(Keys.END)
    assert browser.execute_script("return sccr.state.t === sccr.data.to")
    body.send_keys(Keys.HOME)
    assert browser.execute_script("return sccr.state.t === sccr.data.from")
    body.send_keys(" ")
    assert browser.execute_script("return sccr.state.playing")
    body.send_keys(" ")
    assert not browser.execute_script("return sccr.state.playing")
    browser.execute_script("sccr.go(66000)")
    canvas = browser.find_element(By.ID, "nodes")
    browser.execute_script("arguments[0].focus()", canvas)
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    said = browser.execute_script("return document.getElementById('say').textContent")
    assert re.match(r"h100n02 at day 1 18:20: \d of 4 GPUs, \d+ of 64 cores in use\. job \d+", said)
    # the queue is one stop, the arrows go through it
    browser.execute_script("document.querySelector('#queue li[data-job]').focus()")
    browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert browser.switch_to.active_element.get_attribute("data-row") == "1"
    assert browser.find_element(By.ID, "tip").is_displayed()
    assert "priority now" in browser.execute_script("return document.getElementById('say').textContent")


def test_light_dark_and_window(browser):
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = browser.execute_script(ground)
    browser.find_element(By.ID, "theme").click()
    assert browser.execute_script(ground) != light
    browser.execute_script("sccr.go(66000)")
    wide = browser.execute_script("return sccr.view()")
    browser.find_element(By.TAG_NAME, "body").send_keys("+")
    narrow = browser.execute_script("return sccr.view()")
    assert narrow[1] - narrow[0] < wide[1] - wide[0]
    assert narrow[0] <= 66000 <= narrow[1]


@pytest.mark.slow
def test_responsive_at_200_nodes_and_20000_jobs(chromium, sccr, tmp_path):
    cluster = tmp_path / "big.conf"
    cluster.write_text("NodeName=g[001-150] CPUs=64 RealMemory=512000 Gres=gpu:h100:4\n"
                       "NodeName=g[151-200] CPUs=128 RealMemory=1024000 Gres=gpu:h100:8\n"
                       "PartitionName=gpu_batch_exec Nodes=ALL Default=YES\n"
                       "PriorityWeightAge=1000\nPriorityWeightFairshare=1000\nPriorityWeightJobSize=1000\n")
    page, figures = make_page(sccr, tmp_path, 20000, 9, cluster, "ccr")
    assert figures["runs"][0]["jobs"] == 20000
    assert page.stat().st_size < 16 << 20
    chromium.get(f"file://{page}")
    times = chromium.execute_script("""
      const D = sccr.data, T = [];
      for (let n = 0; n < 30; n++) {
        sccr.state.t = D.from + (D.to - D.from) * (0.2 + 0.6 * n / 30);
        const a = performance.now(); sccr.draw(); sccr.drawOverview(); sccr.drawQueue(); T.push(performance.now() - a);
      }
      return T.sort((a, b) => a - b);""")
    # a frame; the machine may be busy, so the quicker half counts
    assert times[len(times) // 2] < 250, times
    assert chromium.get_log("browser") == []
