"""`rule` explains a rule, and finds the rules that look for what somebody sees."""

import pytest

from summaries.cli import main


def test_by_code(capsys):
    assert main(["rule", "GL404"]) == 0
    assert capsys.readouterr().out.startswith("# GL404: clipping saturated\n")
    assert main(["rule", " gl404"]) == 0
    assert "fraction = 0.9  # a number from 0 to 1\n" in capsys.readouterr().out
    assert main(["rule"]) == 0
    assert "GL404  warning  clipping-saturated\n" in capsys.readouterr().out
    assert main(["rule", "GL44"]) == 2
    assert capsys.readouterr().err == "gradledger: unknown code 'GL44'; did you mean 'GL404'?\n"


@pytest.mark.parametrize(
    ("words", "listed"),
    [
        (
            ["spike"],
            [
                "GL302  warning  loss-spike",
                "GL505  info     update-spike-first",
                "GL508  info     spike-foretold",
                "GL510  info     stale-second-moment",
            ],
        ),
        (["Overfitting", "validation"], ["GL305  warning  overfitting"]),
        (["rank", "one", "NaN"], ["GL614  error    first-non-finite-rank"]),
    ],
    ids=str,
)
def test_by_symptom(capsys, words, listed):
    assert main(["rule", *words]) == 0
    assert capsys.readouterr().out.splitlines() == listed


def test_by_the_beginning_of_codes(capsys):
    assert main(["rule", "gl50"]) == 0
    assert [line[:5] for line in capsys.readouterr().out.splitlines()] == [f"GL50{number}" for number in range(1, 10)]


def test_by_name(capsys):
    assert main(["rule", "Loss-Spike"]) == 0
    assert capsys.readouterr().out.startswith("# GL302: ")


def test_a_symptom_of_no_rule(capsys):
    assert main(["rule", "quux"]) == 2
    assert capsys.readouterr().err == (
        "gradledger: no rule is about 'quux': give a code such as GL301, or what you see, such as 'loss nan'; "
        "`gradledger rule` lists all rules\n"
    )
