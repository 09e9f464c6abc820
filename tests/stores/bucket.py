"""A bucket of an S3 server, as a user of it sees it, behind the tests' proxy."""

from stores.proxy import Proxy

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI"


class Bucket:
    """A new bucket.

    Args:
        port: the server's.
        name: the bucket's.
        proxy_port: of a proxy that is already there; None starts one.
    """

    def __init__(self, port, name, proxy_port=None):
        import boto3

        self.proxy = Proxy(port) if proxy_port is None else None
        proxy_port = proxy_port or self.proxy.port
        self.name, self.address = name, f"s3://{name}"
        self.options = {
            "key": KEY,
            "secret": SECRET,
            "client_kwargs": {"endpoint_url": f"http://127.0.0.1:{proxy_port}", "region_name": "us-east-1"},
            # Requests are counted, so none is made again because a busy machine was slow.
            "config_kwargs": {"retries": {"max_attempts": 0}, "read_timeout": 120, "connect_timeout": 120},
        }
        self._direct = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id=KEY, aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )  # fmt: skip
        self._direct.create_bucket(Bucket=name)

    def hurry(self):
        """Make clients give up what does not answer soon."""
        self.options["config_kwargs"]["read_timeout"] = 5

    def put(self, key, data):
        """Put an object, not through the proxy."""
        self._direct.put_object(Bucket=self.name, Key=key, Body=data)

    def put_tree(self, directory, prefix=""):
        """Put all files below a directory."""
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                self.put(prefix + path.relative_to(directory).as_posix(), path.read_bytes())

    def get(self, key):
        """Read an object."""
        return self._direct.get_object(Bucket=self.name, Key=key)["Body"].read()

    def delete(self, key):
        """Delete an object."""
        self._direct.delete_object(Bucket=self.name, Key=key)

    def close(self):
        self.proxy.close()
