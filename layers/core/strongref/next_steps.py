"""What a user can do about each error code of AWS: the one table, from a code to a sentence. Pure.

AWS's own error texts are neither shown nor logged, since they may quote a value. Its codes alone help few people.
"""

from __future__ import annotations

from strongref.codes import DENIED, NOT_ACCEPTED, THROTTLED

_ACTIONS = {
    "ssm": (
        *("AddTagsToResource", "DeleteParameters", "DescribeParameters", "GetParameters", "GetParametersByPath"),
        *("ListTagsForResource", "PutParameter", "RemoveTagsFromResource"),
    ),
    "cloudformation": (
        *("CreateStack", "DeleteStack", "DescribeStackEvents", "DescribeStackResource", "DescribeStacks"),
        *("GetResource", "ListImports", "ListResources", "ListStackResources", "UpdateStack"),
    ),
    "tag": ("GetResources",),
    "sts": ("AssumeRole",),
    "events": ("PutEvents",),
}
_PERMISSIONS = {action: f"{service}:{action}" for service, actions in _ACTIONS.items() for action in actions}
_PERMISSIONS["PutParameter"] += ", with tags also ssm:AddTagsToResource"

_DECRYPTING = ("GetParameters", "GetParametersByPath")
_CLOUDTRAIL = "AWS's own text is in CloudTrail, under the request ID in the function's log."
_KEY = "Check the parameter KmsKey of the installation, and the key or alias of that name in the region."
_UNREACHED = "Check that the region exists, and that no network setting, proxy or firewall blocks its endpoint."
_MISSING = "Configure AWS credentials: sign in, set AWS_PROFILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."

_SHARED = {
    "Someone gave the parameter a parameter policy. Remove its policies, and deploy again.": (
        *("PoliciesLimitExceededException", "PolicyLimitExceeded", "IncompatiblePolicyException"),
        *("InvalidPolicyTypeException", "InvalidPolicyAttributeException"),
    ),
    f"The KMS key is disabled. {_KEY}": ("KMSDisabledException", "DisabledException"),
    "The handler of the resource type failed. Deploy again; if it fails again, AWS has to correct the handler.": (
        *("NotStabilizedException", "NetworkFailureException"),
        *("HandlerFailureException", "HandlerInternalFailureException"),
    ),
    "AWS failed each time that the call was retried. Deploy again; if it fails again, see the AWS Health Dashboard.": (
        *("InternalServerError", "InternalFailure", "InternalException", "InternalServiceException"),
        *("ServiceInternalErrorException", "ServiceUnavailable"),
    ),
    "Other callers use up the quota of the account. Deploy fewer stacks at a time, or raise the quota.": THROTTLED,
    "AWS does not accept the credentials here. Enable the region for the account, or check the credentials.": (
        *NOT_ACCEPTED,
    ),
    "The credentials have expired. Sign in again; a function gets new ones, so deploy again.": (
        *("ExpiredToken", "ExpiredTokenException"),
    ),
    "AWS does not accept the signature. Check the clock of the machine and the secret access key.": (
        *("SignatureDoesNotMatch", "InvalidSignatureException", "RequestExpired", "RequestTimeTooSkewed"),
    ),
}
"""The codes that have a step in common."""

WITHOUT_RESPONSE = {
    **dict.fromkeys(("EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError"), _UNREACHED),
    **dict.fromkeys(("ConnectionClosedError", "ProxyConnectionError", "SSLError"), _UNREACHED),
    "ResponseParserError": (
        "What responded is not AWS. Check AWS_ENDPOINT_URL, endpoint_url in AWS's configuration, and the proxy."
    ),
    "InvalidRegionError": "Give the code of a region, such as us-east-1.",
    "NoCredentialsError": _MISSING,
    "PartialCredentialsError": _MISSING,
}
"""By the name of botocore's error."""

_STEPS = {
    # Parameter Store
    "PutParameter ValidationException": f"Parameter Store refused the name, the type or the value. {_CLOUDTRAIL}",
    "ParameterLimitExceeded": (
        "The region has as many parameters as its quota allows: 10,000 standard and 100,000 advanced ones. Even a "
        "deletion has to write one. Delete one that nobody needs, or request a higher quota."
    ),
    "ParameterMaxVersionLimitExceeded": (
        "The parameter has 100 versions, and a label keeps the oldest one. Remove the label "
        "(aws ssm unlabel-parameter-version), and deploy again."
    ),
    "ParameterPatternMismatchException": (
        "Someone gave the parameter an AllowedPattern that the value does not match. Correct the pattern."
    ),
    "HierarchyLevelLimitExceededException": "A parameter's name has at most 15 levels. Use fewer levels in Values.",
    "HierarchyTypeMismatchException": (
        "The type of a parameter cannot be changed. Export the value under another name, or delete the parameter if no "
        "stack imports it."
    ),
    "UnsupportedParameterType": "The region does not support this type of parameter. Export a plain string.",
    "InvalidKeyId": f"The KMS key does not exist, is disabled, or is pending deletion. {_KEY}",
    "KMSInvalidStateException": f"The KMS key is disabled or pending deletion. {_KEY}",
    "KMSNotFoundException": f"The KMS key does not exist. {_KEY}",
    "InvalidNextToken": "The parameters changed while they were read. Deploy again.",
    "InvalidAllowedPatternException": "Someone gave the parameter an invalid AllowedPattern. Correct the pattern.",
    "TooManyUpdates": "Other callers change the same parameter. Deploy again when they have finished.",
    # CloudFormation
    "CreateStack ValidationError": (
        "CloudFormation refused the hold stack: the export may be gone, or the stack was changed by hand. Deploy the "
        "producer again, then this stack."
    ),
    "LimitExceededException": "The region has reached its quota of stacks. Delete some, or request a higher quota.",
    "AlreadyExistsException": "A stack of that name exists already. Deploy again.",
    "TokenAlreadyExistsException": "CloudFormation has carried out this request already. Deploy again.",
    "InsufficientCapabilitiesException": "The hold stack was changed by hand. Delete it, and deploy again.",
    # Cloud Control and the tagging API
    "GeneralServiceException": "The service of the resource refused the call. Check the identifier.",
    "InvalidRequestException": "The service of the resource found the request invalid. Check the identifier.",
    "PrivateTypeException": "The resource type is private. Activate it in this account and region.",
    "ResourceConflictException": "The resource is being changed. Deploy again when that has finished.",
    "ServiceLimitExceededException": "The service of the resource has reached a quota. Request a higher one.",
    "InvalidParameterException": "The tagging API does not know the resource type, or finds the tags invalid.",
    "PaginationTokenExpiredException": "The list took too long. Deploy again.",
    # EventBridge
    "PutEvents ResourceNotFoundException": "The event bus does not exist. Check the parameter EventBus.",
    # Any service
    "ValidationException": f"AWS found the request invalid. {_CLOUDTRAIL}",
    "OptInRequired": "The account is not subscribed to the service, or the region is not enabled. Enable it.",
    "SubscriptionRequiredException": "The account is not subscribed to the service. Sign up for it.",
    **{code: step for step, codes in _SHARED.items() for code in codes},
    **WITHOUT_RESPONSE,
}
"""By error code, or by action and code where the code alone does not say enough."""


def next_step(action: str, code: str) -> str:
    """What to do about the failure of an API action; empty if its code (AWS's, or botocore's error) says nothing."""
    if code in DENIED:
        needed = _PERMISSIONS.get(action, action)
        key = " For secure values, the KMS key must allow it, too." if action in (*_DECRYPTING, "PutParameter") else ""
        return (
            f"The function's role (for a command, your own) needs {needed}. Check its policies, its permissions "
            f"boundary and service control policies.{key}"
        )
    return _STEPS.get(f"{action} {code}") or _STEPS.get(code, "")
