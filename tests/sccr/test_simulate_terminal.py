"""sccr simulate on a terminal: the progress bar, and Ctrl-C while the workload is being read."""
import fcntl
import os
import re
import signal
import struct
import subprocess
import termios

import pytest

HEAD = "id,submit,runtime,limit,cpus\n"
UNREAD = "interrupted while it was read: no figures\n"


class Terminal:
    """sccr with its standard error on a terminal of so many columns."""
    def __init__(self, sccr, *arguments, columns=0, **kwargs):
        self.said, (self.here, there) = b"", os.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        kwargs.setdefault("env", {k: v for k, v in os.environ.items() if k != "COLUMNS"})
        self.process = subprocess.Popen([sccr.path, "simulate", *map(str, arguments)], stderr=there, stdout=subprocess.PIPE, **kwargs)
        os.close(there)

    def read(self, until=None):
        """Till that is said, or the end."""
        while not until or not re.search(until, self.said):
            try:
                block = os.read(self.here, 65536)
            except OSError:
                block = b""
            if not block:
                assert not until, self.said[-500:]
                break
            self.said += block
        return self.said

    def end(self):
        self.read()
        os.close(self.here)
        out = self.process.communicate(timeout=120)[0]
        return self.process.returncode, out

    def lines(self):
        return [line.replace("\033[K", "") for line in re.split("[\r\n]+", self.said.decode())]


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text(HEAD + "".join(f"{i},{i},900,1000,1\n" for i in range(60000)))
    return path


@pytest.mark.parametrize("columns, given, width", [(80, None, 80), (50, "200", 50), (25, None, 25), (0, "60", 60), (0, None, 80),
                                                   (0, "much", 80), (200, None, 200)])
def test_no_line_is_wider_than_the_terminal(sccr, many, columns, given, width):
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"} | ({"COLUMNS": given} if given else {})
    t = Terminal(sccr, "-N", "400", "--cpus", "2", "-s", "easy", many, columns=columns, env=env)
    assert t.end()[0] == 0
    lines = [line for line in t.lines() if line.startswith("easy ")]
    assert lines and all(len(line) < width for line in t.lines()), lines
    if width >= 80:  # all of it is there: the bar gives way
        assert all(re.fullmatch(r"easy +\[[#.]+\] +\d+ %, \d+ running, \d+ queued, \d+:\d\d left", line) for line in lines), lines
    if width == 200:
        assert all(len(re.search(r"\[(.*)\]", line).group(1)) == 30 for line in lines)


def test_the_bar_says_that_it_reads(sccr, tmp_path):
    here, there = os.pipe()
    os.write(there, (HEAD + "a,0,10,20,1\nb,x,1,1,1\n").encode())
    t = Terminal(sccr, "-N", "1", "-", columns=80, stdin=here)
    t.read(until=rb"\rreading +0\.0 MB\033\[K")
    os.close(there)
    os.close(here)
    assert t.end()[0] == 0
    assert "sccr simulate: standard input:3: submit: " in t.said.decode().split("\033[K")[-1]  # the bar is out of its way


def test_ctrl_c_while_a_file_is_read(sccr, tmp_path):
    work, figures = tmp_path / "million.csv", tmp_path / "figures"
    work.write_text(HEAD + "".join(f"{i},{i},900,1000,1\n" for i in range(1500000)))
    figures.write_text("before\n")
    t = Terminal(sccr, "-N", "4", "--cpus", "2", "-o", figures, work, columns=80)
    t.read(until=rb"\rreading +\[#*\.+\] +\d+ %, \d+\.\d of \d+\.\d MB\033")
    t.process.send_signal(signal.SIGINT)
    assert t.end() == (130, b"")
    assert t.said.decode().replace("\r\n", "\n").endswith(f"\r\033[Ksccr simulate: {work}: {UNREAD}")
    assert figures.read_text() == "before\n"


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("lines", [0, 1, 20000])
def test_the_first_interrupt_ends_the_reading_of_standard_input(sccr, lines, which):
    here, there = os.pipe()
    with os.fdopen(there, "w") as out:
        # quiet: there would be no bar to see that it reads
        t = Terminal(sccr, "-N", "1", "-f", "csv", "-", stdin=here)
        out.write("".join(f"{i},{i},10,20,1\n" if i else HEAD for i in range(lines)))
        out.flush()
        t.read(until=b"reading")
        t.process.send_signal(which)
        assert t.end() == (130, b"")
    os.close(here)
    assert t.said.decode().endswith(f"sccr simulate: standard input: {UNREAD}".replace("\n", "\r\n"))


def test_an_interrupt_ends_the_reading_of_an_input_without_pause(sccr):
    with subprocess.Popen(["yes", "1,1,1,1,1"], stdout=subprocess.PIPE) as endless:
        t = Terminal(sccr, "-N", "1", "-", stdin=endless.stdout)
        t.read(until=b"reading")
        t.process.send_signal(signal.SIGINT)
        assert t.end() == (130, b"")
        endless.kill()


def test_quiet_is_quiet_while_reading(sccr, many):
    t = Terminal(sccr, "-N", "400", "--cpus", "2", "-s", "easy", "-q", many)
    assert t.end()[0] == 0 and t.said == b""
