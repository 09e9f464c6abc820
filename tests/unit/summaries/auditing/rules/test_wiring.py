"""GL7xx: what checks of a training loop have told is read back, under the names by which they tell it."""

from audits.audited import found_in

from optim.wiring.mistake import NAMES
from summaries import SummaryWriter, audit
from summaries.auditing.findings import Severity
from summaries.auditing.rules.wiring import RULES


def test_the_checks_call_the_rules_by_their_names():
    assert {code: rule.name for code, rule in RULES.items()} == NAMES


def test_each_text_is_a_finding(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("wiring/clipped-late", "gradients are clipped late", 3)
        writer.add_text("wiring/clipped-late", "and again, after a restart", 7)
        writer.add_text("wiring/somebody's own", "a text", 1)
    findings = [finding for finding in audit(tmp_path).findings if finding.code.startswith("GL7")]
    assert [(f.code, f.name, f.severity, f.steps, f.message) for f in findings] == [
        ("GL721", "clipped-late", Severity.WARNING, (3, 3), "gradients are clipped late"),
        ("GL721", "clipped-late", Severity.WARNING, (7, 7), "and again, after a restart"),
    ]


def test_a_run_without_texts(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("wiring/clipped-late", 1.0, 1)
    assert not {code for code in found_in(tmp_path) if code.startswith("GL7")}
