"""What the types of the pages' JavaScript say of the data that Python writes."""

import re
from importlib.resources import files

DECLARED = {
    "types.d.ts": files("summaries.auditing.report") / "page" / "types.d.ts",
    "answers.d.ts": files("summaries.integrations.tensorboard") / "page" / "answers.d.ts",
}


def keys(file, interface):
    """The names of an interface's own properties, with a question mark after those that may be missing."""
    text = DECLARED[file].read_text(encoding="utf-8")
    block = rf"^export interface {interface} (?:extends [^{{]+ )?\{{\n(.*?)^\}}"
    (body,) = re.findall(block, text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^  (\w+\??):", body, re.MULTILINE))
