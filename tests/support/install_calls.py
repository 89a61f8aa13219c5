"""What `strongref install`, `status` and `uninstall` call, in addition to what functions do."""

from __future__ import annotations

INSTALLING = {
    *("CreateChangeSet", "DeleteChangeSet", "ExecuteChangeSet", "GetTemplateSummary", "ListStacks"),
    "UpdateTerminationProtection",
    *("CreateBucket", "DeleteBucket", "DeleteObjects", "HeadBucket", "HeadObject", "ListObjectsV2", "PutObject"),
    *("PutBucketEncryption", "PutPublicAccessBlock"),
}
