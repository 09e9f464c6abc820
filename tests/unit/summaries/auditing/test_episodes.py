"""A finding is told once, and again after it has ended."""

from summaries import Finding, Severity
from summaries.auditing.episodes import Episodes


def finding(last=None, severity=Severity.WARNING, code="GL302"):
    return Finding(code, "name", severity, "run", "loss", None if last is None else (0, last), "message")


def told(*looks):
    """Whether the finding of each look is told; a look is (the finding or None, the last step of the run)."""
    episodes = Episodes()
    return [bool(list(episodes.new([one] if one else [], (0, last)))) for one, last in looks]


def test_once_while_it_lasts():
    assert told((finding(10), 10), (finding(20), 20), (finding(30), 31)) == [True, False, False]


def test_again_after_it_ended():
    assert told((finding(10), 10), (finding(10), 50), (finding(60), 60)) == [True, False, True]
    assert told((finding(), 10), (None, 15), (finding(), 16), (finding(), 60)) == [True, True, True, False]


def test_what_is_no_longer_found_is_withdrawn_once():
    episodes = Episodes()
    looks = [([finding(code="GL305")], 100), ([], 105), ([], 130), ([], 160)]
    said = [[(one.severity.name, one.message) for one in episodes.new(found, (0, last))] for found, last in looks]
    assert said == [[("WARNING", "message")], [], [("INFO", "no longer so since step 105: message")], []]
    assert told((finding(severity=Severity.INFO), 10), (None, 50)) == [True, False]  # a note need not be


def test_what_ended_is_not_told_again_by_itself():
    assert told((finding(10), 10), (finding(10), 50), (finding(10), 90)) == [True, False, False]


def test_what_flickers_is_one_episode():
    assert told((finding(), 100), (None, 105), (finding(), 110), (None, 119), (finding(), 120)) == [True] + [False] * 4


def test_what_becomes_worse_is_told():
    worse = finding(20, Severity.ERROR)
    assert told((finding(10), 10), (worse, 20), (finding(30), 30), (worse, 31)) == [True, True, False, False]


def test_each_code_is_its_own():
    episodes = Episodes()
    assert len(list(episodes.new([finding(1), finding(1, code="GL301")], (0, 1)))) == 2


def test_a_run_without_points():
    assert told((finding(), 0)) == [True]
    assert [one.code for one in Episodes().new([finding()], None)] == ["GL302"]
