"""page.py FILE [HEADING...]: whether an HTML page is well-formed, complete in itself and free of scripts, and has the headings."""
import html.parser
import math
import re
import sys

VOID = {"meta", "br", "img", "hr", "link", "input"}
PLACES = {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems, self.heading, self.headings, self.pictures = [], [], None, [], 0

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "link", "iframe", "object", "img", "b") and tag != "b":
            self.problems.append(f"<{tag}>")
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "href") or "url(" in (value or ""):
                self.problems.append(f"{name}={value}")
            if name in PLACES and "svg" in self.open and not math.isfinite(float(value)):
                self.problems.append(f"{tag} {name}={value}")
            if name in ("width", "height") and "svg" in self.open and float(value) < 0:
                self.problems.append(f"{tag} {name}={value}")
            if name == "d" and re.search(r"nan|inf", value):
                self.problems.append(f"d={value[:60]}")
        self.pictures += tag == "svg"
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self.heading = ""

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> out of place")
        if tag == "h2":
            self.headings.append(self.heading)
            self.heading = None

    def handle_data(self, data):
        if self.heading is not None:
            self.heading += data


text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
page.close()
problems = page.problems + [f"<{t}> not closed" for t in page.open]
problems += [f"no heading {h}" for h in sys.argv[2:] if not any(x.startswith(h) for x in page.headings)]
if re.search(r"https?://|@import|alert\(\"", text):
    problems.append("an address, or markup from a name")
if sys.argv[2:] and page.pictures < 6:
    problems.append(f"{page.pictures} pictures")
print("\n".join(problems))
sys.exit(1 if problems else 0)
