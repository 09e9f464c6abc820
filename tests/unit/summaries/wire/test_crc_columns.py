"""The checksums of many records at once are those of each."""

import numpy as np
import pytest

from summaries.wire import crc_columns
from summaries.wire.crc32c import crc32c


@pytest.mark.parametrize("length", [0, 1, 3, 64, 65, 256, 300])
@pytest.mark.parametrize("count", [0, 1, crc_columns._BLOCK, crc_columns._BLOCK + 1])
def test_checksums(length, count):
    records = np.random.default_rng(length).integers(0, 256, (count, length), np.uint8)
    assert crc_columns.checksums(records).tolist() == [crc32c(record.tobytes()) for record in records]


def test_tables_that_were_made_stay(monkeypatch):
    monkeypatch.setattr(crc_columns, "_tables", crc_columns._tables[:1])
    few = crc_columns.byte_tables(3)
    assert crc_columns.byte_tables(2) is few
    many = crc_columns.byte_tables(len(few) + 1)
    assert len(many) > len(few)
    np.testing.assert_array_equal(many[: len(few)], few)
    for distance in (0, 2, len(few)):
        data, zeros = b"\x17" + bytes(distance), bytes(distance + 1)
        assert many[distance, 0x17] == crc32c(data) ^ crc32c(zeros)
