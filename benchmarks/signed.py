"""The floor: a call to SSM by the standard library alone, signed by hand. What a function could be without an SDK.

It is measured, and not used: retries, credentials' renewal, proxies, endpoints of other partitions and errors' shapes
are all missing from it.
"""

import hashlib
import hmac
import http.client
import json
import os
import time


class Client:
    """SSM in one region, over one connection, by the credentials of the environment."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._host = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
        self._connection = http.client.HTTPConnection(self._host, timeout=15)

    def put_parameter(self, **request: object) -> object:
        """As boto3's."""
        body = json.dumps(request).encode()
        headers = self._headers("PutParameter", body)
        self._connection.request("POST", "/", body, headers)
        return json.load(self._connection.getresponse())

    def _headers(self, action: str, body: bytes) -> dict[str, str]:
        """AWS's signature, version 4."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = f"{now[:8]}/{self._region}/ssm/aws4_request"
        headers = {
            "content-type": "application/x-amz-json-1.1",
            "host": self._host,
            "x-amz-date": now,
            "x-amz-target": f"AmazonSSM.{action}",
        }
        names = ";".join(headers)
        canonical = "".join(f"{name}:{value}\n" for name, value in headers.items())
        request = f"POST\n/\n\n{canonical}\n{names}\n{hashlib.sha256(body).hexdigest()}"
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        key = b"AWS4" + os.environ["AWS_SECRET_ACCESS_KEY"].encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.new(key, text.encode(), "sha256").hexdigest()
        credential = f"{os.environ['AWS_ACCESS_KEY_ID']}/{scope}"
        how = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}"
        return headers | {"authorization": how}
