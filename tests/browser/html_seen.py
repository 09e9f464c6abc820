"""What a browser makes of HTML for notebooks: its elements, their attributes, and the rows of its tables."""

from html.parser import HTMLParser

ELEMENTS = {"div", "p", "path", "rect", "span", "style", "svg", "table", "tbody", "td", "th", "thead", "tr"}
ATTRIBUTES = {"aria-hidden", "class", "d", "height", "viewbox", "width"}


class Seen(HTMLParser):
    """HTML, taken apart.

    Attributes:
        elements: the names of all elements.
        attributes: the names of all attributes.
        rows: the text of each cell, row by row; the first is that of the titles.
        lines: the text of each paragraph.
    """

    def __init__(self, text):
        super().__init__()
        self.elements = set()
        self.attributes = set()
        self.rows = []
        self.lines = []
        self._open = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag in {"path", "rect"}:
            return
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
        elif tag == "p":
            self.lines.append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data
        elif "p" in self._open:
            self.lines[-1] += data

    def is_ours(self):
        """Whether there are only elements and attributes that we write."""
        return self.elements <= ELEMENTS and self.attributes <= ATTRIBUTES
