"""The bucket of one region, from which CloudFormation and Lambda take templates and code.

Bucket names are public, so every call names the account that has to own the bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongref.aws.clients import Clients
from strongref_cli.install.errors import ForeignBucketError, InstallError
from strongref_cli.install.packaging import KEY_PREFIX
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from strongref_toolkit.aws import Aws, Where

_WITHOUT_LOCATION = "us-east-1"
"""Where CreateBucket takes no LocationConstraint (AWS: CreateBucket)."""

_MISSING = ("404", "NoSuchBucket", "NoSuchKey")
_DENIED = ("403", "AccessDenied", "301", "PermanentRedirect")
_NOT_EMPTY = "BucketNotEmpty"
_BATCH = 1000
"""Keys of one call (AWS: DeleteObjects)."""

_ENCRYPTION = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}, "BucketKeyEnabled": True}]}
_PRIVATE = {"BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True, "RestrictPublicBuckets": True}


def bucket_name(account: str, region: str, prefix: str | None = None) -> str:
    """The name of a region's bucket: `strongref-ACCOUNT-REGION`, or `PREFIX-REGION`."""
    return f"{prefix}-{region}" if prefix else f"strongref-{account}-{region}"


@dataclass(frozen=True)
class CodeBucket:
    """Methods raise `AwsCallError`."""

    aws: Aws
    where: Where
    account: str  # its owner's ID
    name: str
    is_ours: bool = True  # whether the command makes it, and may delete it

    def uri(self, key: str) -> str:
        return f"s3://{self.name}/{key}"

    def url(self, key: str) -> str:
        """The URL of an object, as CloudFormation takes it for a template."""
        return f"{self.aws.clients(self.where).s3(self.where.region).meta.endpoint_url}/{self.name}/{key}"

    def exists(self) -> bool:
        """Whether the account has it.

        Raises:
            ForeignBucketError: another account has it, or the caller may not use it.
        """
        return self._is_there("HeadBucket")

    def _is_there(self, action: str, **request: Any) -> bool:
        try:
            self._call(action, **request)
        except AwsCallError as error:
            if error.code in _DENIED:
                raise ForeignBucketError(self.name) from None
            if error.code not in _MISSING:
                raise
            return False
        return True

    def has(self, key: str) -> bool:
        """Whether an object is there; errors as `exists`."""
        return self._is_there("HeadObject", Key=key)

    def prepare(self) -> None:
        """Make it private, and create it if it does not exist.

        Raises:
            ForeignBucketError: as `exists`.
            InstallError: it does not exist, and it is not ours to create.
        """
        if not self.exists():
            if not self.is_ours:
                what = f"The bucket {self.name} does not exist."
                raise InstallError(f"{what} Create it, or leave out --bucket to have one created.")
            self._create()
        if self.is_ours:
            self._call("PutPublicAccessBlock", PublicAccessBlockConfiguration=_PRIVATE)
            self._call("PutBucketEncryption", ServerSideEncryptionConfiguration=_ENCRYPTION)

    def _create(self) -> None:
        region = self.where.region
        where = {} if region == _WITHOUT_LOCATION else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        request: dict[str, Any] = {"Bucket": self.name, "ObjectOwnership": "BucketOwnerEnforced", **where}
        self.aws.call(self.where, "CreateBucket", self.name, Clients.s3, **request)

    def put(self, key: str, content: bytes) -> None:
        self._call("PutObject", Key=key, Body=content)

    def keys(self) -> list[str]:
        """The keys of all objects that the command has put there."""
        request = self._request(Prefix=KEY_PREFIX)
        pages = self.aws.pages(self.where, "ListObjectsV2", self.name, Clients.s3, **request)
        return [each["Key"] for page in pages for each in page.get("Contents", [])]

    def purge(self) -> bool:
        """Delete what the command has put there, and the bucket itself if it is ours and nothing else is in it.

        It returns whether the bucket is gone.
        """
        keys = self.keys()
        for start in range(0, len(keys), _BATCH):
            objects = [{"Key": key} for key in keys[start : start + _BATCH]]
            self._call("DeleteObjects", Delete={"Objects": objects, "Quiet": True})
        if not self.is_ours:
            return False
        try:
            self._call("DeleteBucket")
        except AwsCallError as error:
            if error.code != _NOT_EMPTY:
                raise
            return False
        return True

    def _call(self, action: str, **request: Any) -> None:
        self.aws.call(self.where, action, self.name, Clients.s3, **self._request(**request))

    def _request(self, **more: Any) -> dict[str, Any]:
        return {"Bucket": self.name, "ExpectedBucketOwner": self.account, **more}
