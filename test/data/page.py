"""page.py FILE [HEADING...]: whether an HTML page is well-formed, complete in itself and of a size to send, and has the headings."""
import html.parser
import json
import re
import sys

VOID = {"meta", "br", "img", "hr", "link", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems, self.heading, self.headings, self.pictures, self.scripts = [], [], None, [], 0, 0

    def handle_starttag(self, tag, attributes):
        if tag in ("link", "iframe", "object", "img"):
            self.problems.append(f"<{tag}>")
        self.scripts += tag == "script"
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "href") and not value.startswith("#candidate-") or "url(" in (value or ""):
                self.problems.append(f"{name}={value}")
        self.pictures += tag == "canvas"
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
# of the library its licence names an address
library = re.search(r'<script id="library">.*?</script>', text, re.S).group(0)
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))
if page.scripts != 3 or len(data["charts"]) != page.pictures:
    problems.append(f"{page.scripts} scripts, {page.pictures} places for {len(data['charts'])} pictures")
if len(text.encode()) >= 2_000_000:
    problems.append(f"{len(text.encode())} bytes")
if re.search(r"https?://|@import|alert\(\"", text.replace(library, "")):
    problems.append("an address, or markup from a name")
if sys.argv[2:] and page.pictures < 6:
    problems.append(f"{page.pictures} pictures")
print("\n".join(problems))
sys.exit(1 if problems else 0)
