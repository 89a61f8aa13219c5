"""The errors of tokens and manifests, by names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from strongref.contract.fence import Fence
from strongref.contract.names import ManifestSet
from strongref.refusals import ExportsInUseError, InUse
from strongref_manifests import errors
from strongref_manifests.forms import INSIDE, TEXT_ONLY, not_text
from strongref_manifests.leftovers import leftover
from strongref_manifests.manifest_set import ManifestSetBusyError, NothingUsedError, UnreadableLedgerError
from strongref_manifests.set_holds import HoldLeftError
from strongref_manifests.text.manifests import YAML, read
from strongref_manifests.tokens import Token, malformed
from strongref_toolkit import errors as toolkit_errors
from strongref_toolkit.errors import NoWayInError
from tests.support.builders import ACCOUNT, SCOPE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.errors import StrongRefError

EU = "eu-west-1"
SHOP = ManifestSet(ACCOUNT, "shop")
_HELM = b"kind: X\nspec:\n  a: 1\n  b: 2\n  c: 3\n  d: 4\n{{- if .Values.e }}\n  e: 5\n{{- end }}\n"


def _unreadable() -> StrongRefError:
    try:
        read("chart/app.yaml", _HELM, YAML)
    except errors.ManifestError as error:
        return error
    raise AssertionError


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "resolve-output": lambda: errors.OutputNotFetchedError("BucketName", "aws"),
    "resolve-stack": lambda: errors.OutputNotFetchedError(
        "BucketName", "aws", hint=str(errors.StackNotFoundError("aws", EU))
    ),
    "resolve-not-a-stack": lambda: errors.OutputNotFetchedError(
        "BucketName", "aws.Bucket", str(errors.NotAStackError("Bucket", "AWS::S3::Bucket"))
    ),
    "resolve-resource": lambda: errors.ResourceNotFoundError("Bucket", "aws", EU),
    "resolve-attribute": lambda: errors.UnknownAttributeError("Endpoint", "Cluster", "Custom::Cluster"),
    "resolve-export": lambda: toolkit_errors.NotExportedError(
        "VpcID", str(SCOPE.producer), "to all in us-east-1", ["VpcId"], "Correct the key, or export it there first."
    ),
    "resolve-parameter": lambda: errors.NoSuchParameterError("/site/domain", EU),
    "resolve-secret": lambda: errors.SecretNotReadError("db", EU, "its JSON object has no key user"),
    "resolve-variable": lambda: errors.NoSuchVariableError("DOMAIN"),
    "resolve-fetch": lambda: toolkit_errors.AwsCallError("GetParameters", "/site/domain", EU, "AccessDeniedException"),
    "resolve-region": toolkit_errors.NoRegionError,
    "resolve-time": toolkit_errors.UnknownTimeError,
    "resolve-clock": lambda: toolkit_errors.ClockJumpedError(1800),
    "resolve-account": lambda: NoWayInError("222222222222"),
    "resolve-not-enabled": lambda: errors.NotEnabledError("${ssm:/site/domain}", "--with ssm"),
    "resolve-sensitive": lambda: toolkit_errors.SecureValueError("${ssm:/db/password}"),
    "resolve-token": lambda: malformed(Token("cfn", "my_stack.Output")),
    "resolve-key": lambda: errors.TokenInKeyError("${cfn:aws.BucketName}"),
    "resolve-text": lambda: not_text("${export:network.SubnetIds}", [], INSIDE),
    "resolve-text-only": lambda: not_text("${tf:output.port}", 5432, TEXT_ONLY),
    "resolve-strict": lambda: errors.LooksUnresolvedError(*(leftover("${Token[TOKEN.12]}") or ("", ""))),
    "resolve-manifest": _unreadable,
    "resolve-input": lambda: toolkit_errors.UsageError(
        "kubernetes/reports.yaml would be written over: give another folder with -o, or --in-place"
    ),
    "resolve-claimed": lambda: ExportsInUseError([InUse("SubnetIds", "changed", (str(SHOP),))]),
    "resolve-set-busy": lambda: ManifestSetBusyError(
        SHOP.name, str(Fence(f"the manifests {SHOP.name}", datetime(2026, 10, 8, 12, tzinfo=UTC)))
    ),
    "resolve-nothing-used": lambda: NothingUsedError(SHOP.name, 2),
    "resolve-ledger": lambda: UnreadableLedgerError(f"{SHOP.ledger}/5f3a91c2"),
    "resolve-hold-left": lambda: HoldLeftError(
        SHOP.name, "strongref-hold-111111111111-shop-0123456789abcdef", EU, "its deletion ends as DELETE_FAILED"
    ),
    "resolve-write": lambda: toolkit_errors.WriteFailedError("out/reports.yaml", "no space left on device", 0),
}
