"""What is compiled is announced in the log, or to the one that asked for it."""

import logging
import threading

import pytest

from summaries.native.announcing import announce, announced_to

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
