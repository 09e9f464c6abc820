"""What is compiled is announced in the log, or to the one that asked for it."""

import logging
import threading

import pytest

from summaries.native.announcing import announce, announced_as, announced_to

LOGGER = logging.getLogger("summaries")


def test_in_the_log_but_where_somebody_listens(caplog):
    titles = []
    with announced_to(titles.append):
        compiler = threading.Thread(target=announce, args=("the first", LOGGER))
        compiler.start()
        compiler.join()
    with pytest.raises(ZeroDivisionError), announced_to(titles.append):
        raise ZeroDivisionError
    announce("the second", LOGGER)
    assert titles == ["the first"]
    assert caplog.messages == ["compiling the second, once per machine (`gradledger warm-up` does it ahead of time)"]


def test_many_are_one_line_but_a_listener_hears_of_each(caplog):
    titles = []
    with announced_as("the kernels", LOGGER):
        for title in ("the first", "the second"):
            announce(title, LOGGER)
    with announced_to(titles.append), announced_as("the kernels", LOGGER):
        for title in ("the first", "the second"):
            announce(title, LOGGER)
    with announced_as("nothing", LOGGER):
        pass
    assert caplog.messages == ["compiling the kernels, once per machine (`gradledger warm-up` does it ahead of time)"]
    assert titles == ["the first", "the second"]
