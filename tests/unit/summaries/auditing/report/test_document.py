"""Documents: the policy allows what is in them, and nothing else."""

import base64
import hashlib
import html
import re

from summaries.auditing.report.document import document


def test_every_script_and_style_is_allowed_by_its_digest():
    page = document("compare", "axes.js", ["page.css"], data="{}")
    policy = html.unescape(re.search(r'Content-Security-Policy" content="(.*?)"', page)[1])
    texts = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", page, re.DOTALL)
    assert len(texts) == 6  # elements.js, names.js, numbers.js, ticks.js, axes.js, page.css
    for text in texts:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert policy.count("sha256-") == 6
