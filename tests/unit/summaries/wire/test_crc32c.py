"""Known vectors of CRC-32C, and the mask over it."""

import pytest

from summaries.wire.crc32c import crc32c, mask, masked_crc32c, unmask

# RFC 3720, appendix B.4, and the check value of the CRC catalogues.
VECTORS = {
    "32 zero bytes": (bytes(32), 0x8A9136AA),
    "32 bytes of ones": (b"\xff" * 32, 0x62A8AB43),
    "32 bytes, rising": (bytes(range(32)), 0x46DD794E),
    "32 bytes, falling": (bytes(range(31, -1, -1)), 0x113FDB5C),
    "an iSCSI read command": (
        bytes.fromhex(
            "01c00000 00000000 00000000 00000000 14000000 0000040000000014 00000018 28000000 00000000 02000000 00000000"
        ),
        0xD9963A56,
    ),
    "digits": (b"123456789", 0xE3069283),
    "nothing": (b"", 0),
}


@pytest.mark.parametrize(("data", "crc"), VECTORS.values(), ids=VECTORS)
def test_crc32c(data, crc):
    assert crc32c(data) == crc


def test_masked_crc_of_the_first_length_in_most_files():
    assert masked_crc32c((24).to_bytes(8, "little")) == 0x224B7FA3


@pytest.mark.parametrize("crc", [0, 1, 0x7FFF, 0x8000, 0x8A9136AA, 0x80000000, 0xFFFFFFFF])
def test_unmask_is_the_inverse_of_mask(crc):
    assert unmask(mask(crc)) == crc
    assert mask(unmask(crc)) == crc
    assert mask(crc) != crc
