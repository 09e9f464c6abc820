"""Every public method of the originals is there, with their arguments in their order, or the table says why not."""

import pytest
from conformance import originals
from conformance.signatures import differences_of, public_methods
from conformance.tables.signatures import SIGNATURES

from summaries import SummaryWriter

METHODS = [(library, method) for library, of in originals.WRITERS.items() for method in public_methods(of)]


@pytest.mark.parametrize(("library", "method"), METHODS)
def test_the_arguments_are_the_originals(library, method):
    found = differences_of(SummaryWriter, originals.WRITERS[library], method)
    missing = [line for line in found if line.endswith("missing")]
    word = "refused" if missing else "different" if found else "same"
    want = SIGNATURES.get((library, method))
    if word != (want.word if want else "same"):
        pytest.fail(f"{library}'s {method}: {'; '.join(found) or 'is the same'}", pytrace=False)


def test_the_table_names_methods_that_are_there():
    assert set(SIGNATURES) <= set(METHODS)
