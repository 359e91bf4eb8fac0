"""Puts style and script into the page and writes it as a C array: embed.py OUT page.html page.css SCRIPT...

The scripts come one behind another, within one function."""
import sys

out, html, css, *scripts = sys.argv[1:]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


page = read(html).replace("@STYLE@", read(css)).replace("@SCRIPT@", "\n".join(map(read, scripts)))
head, tail = page.split("@DATA@")
with open(out, "w", encoding="utf-8") as f:
    f.write('#include "sccr/sim_page.h"\n')
    for name, text in (("head", head), ("tail", tail)):
        data = text.encode()
        f.write(f"const unsigned char sim_page_{name}[] = {{\n")
        for i in range(0, len(data), 24):
            f.write(",".join(map(str, data[i:i + 24])) + ",\n")
        f.write(f"0}};\nconst size_t sim_page_{name}_len = sizeof(sim_page_{name}) - 1;\n")
