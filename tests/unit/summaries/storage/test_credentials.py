"""Credentials are in no address that is shown and in no message."""

import pytest

from summaries.storage.credentials import Mask, without_credentials


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("runs/user@host", "runs/user@host"),
        ("s3://bucket/a@b", "s3://bucket/a@b"),
        ("s3://key:secret@bucket/runs", "s3://***@bucket/runs"),
        ("filecache::ftp://me:pass@host/runs", "filecache::ftp://***@host/runs"),
        ("https://host/x.tfevents?X-Amz-Signature=abc", "https://host/x.tfevents?***"),
        ("s3://bucket/what?now", "s3://bucket/what?now"),
        ("s3://KEY:SEC/RET@bucket/runs", "s3://***@bucket/runs"),
        ("s3://KEY:SEC@RET/@bucket/runs", "s3://***@bucket/runs"),
        ("ftp://user:pw/x@host/runs", "ftp://***@host/runs"),
        ("s3://bucket/x?X-Amz-Signature=SE/CRET&versionId=3", "s3://bucket/x?X-Amz-Signature=***&versionId=3"),
        ("s3://bucket/token=3/x", "s3://bucket/token=3/x"),
    ],
)
def test_an_address(address, shown):
    assert without_credentials(address) == shown


@pytest.mark.parametrize(
    ("address", "options", "text", "shown"),
    [
        ("s3://b", {"key": "AKIDEXAMPLE"}, "the key AKIDEXAMPLE does not exist", "the key *** does not exist"),
        ("s3://b", {"secret": "1234", "token": "12345"}, "12345 and 1234", "*** and ***"),
        ("s3://b", {"client_kwargs": {"aws_secret_access_key": "hidden"}}, "is hidden", "is ***"),
        ("gs://b", {"token": {"private": "inside"}}, "what is inside", "what is ***"),
        ("s3://b", {"profile": "default", "key": "abc"}, "default abc", "default abc"),
        ("ftp://me:pass word@h", {}, "pass word", "pass word"),
        ("ftp://user:password@h", {}, "login of user with password failed", "login of *** with *** failed"),
        ("s3://KEYS:SEC/RET@b", {}, "KEYS and SEC/RET in s3://KEYS:SEC/RET@b/x", "*** and *** in s3://***@b/x"),
        ("az://b", {}, "GET https://x.net/b?sig=abc&se=1: 403", "GET https://x.net/b?*** 403"),
        ("az://b", {}, "bad Signature=abc&x=1", "bad Signature=***&x=1"),
        ("az://b", {}, "AccountName=a;AccountKey=abc==;x", "AccountName=a;AccountKey=***"),
        (
            "az://b",
            {},
            "account_key=ab api_key=cd pwd=ef auth=gh passphrase=ij passwd=kl",
            " ".join(f"{name}=***" for name in ("account_key", "api_key", "pwd", "auth", "passphrase", "passwd")),
        ),
        ("s3://b", {"passphrase": "hidden"}, "is hidden", "is ***"),
        ("s3://b", {"pwd": b"hidden"}, "is b'hidden'", "is b'***'"),
        ("s3://b", {"secrets": ["hidden", ("inside",)]}, "hidden inside", "*** ***"),
        ("s3://b", {"endpoints": [{"token": "hidden"}]}, "is hidden", "is ***"),
        ("s3://b", {}, "author=jane", "author=jane"),
    ],
)
def test_a_message(address, options, text, shown):
    assert Mask(address, options)(text) == shown
