"""README's block about buckets, pasted into a program of its own, with a bucket of a real server."""

from documentation.readme import BLOCKS, run
from stores.bucket import KEY, SECRET


def test_the_block_about_buckets_runs(s3, tmp_path):
    (block,) = [block for block in BLOCKS if "s3://" in block]
    run(
        block.replace("s3://bucket/", f"{s3.address}/"),
        tmp_path,
        AWS_ACCESS_KEY_ID=KEY,
        AWS_SECRET_ACCESS_KEY=SECRET,
        AWS_DEFAULT_REGION="us-east-1",
        AWS_ENDPOINT_URL=s3.options["client_kwargs"]["endpoint_url"],
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )
    assert s3.proxy.requests
