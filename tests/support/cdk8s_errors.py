"""The errors of the resolvers for cdk8s and of Terraform's states, by names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.errors import StrongRefError
from strongref_cdk8s import errors
from strongref_manifests.errors import NoSuchStateError, NoSuchVariableError, StateNotReadError, StateTwiceError
from strongref_manifests.terraform.addresses import TerraformReference
from strongref_manifests.terraform.source import value_of
from strongref_manifests.terraform.states import read_state
from strongref_toolkit.errors import SelectError
from tests.support.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


BUCKET = '{"Ref":"Bucket83908E77"}'


def _refusal(do: Callable[[], object]) -> StrongRefError:
    try:
        do()
    except StrongRefError as error:
        return error
    raise AssertionError


def _of_state(reference: str) -> Callable[[], StrongRefError]:
    file = "site.tfstate"
    content = (ROOT / "tests/terraform" / file).read_bytes()
    return lambda: _refusal(
        lambda: value_of(read_state(content, file), TerraformReference.parse(reference), sensitive=False)
    )


CASES: Mapping[str, Callable[[], StrongRefError]] = {
    "cdk-unresolved": lambda: errors.UnresolvedValuesError(
        [
            f"Manifest/CronJob/Resource, spec.schedule: {errors.OutputNotDefinedError(BUCKET)}",
            f"Manifest/Config, data.url: {NoSuchVariableError('DOMAIN')}",
        ]
    ),
    "cdk-no-output": lambda: errors.OutputNotDefinedError('{"Fn::GetAtt":["Bucket4A7E3555","BucketName"]}'),
    "cdk-several-stacks": lambda: errors.SeveralStacksError('{"Ref":"AWS::Region"}', ["Eu", "Us"]),
    "cdk-app": lambda: errors.OutputNotDefinedError('{"Ref":"AWS::Region"}', needs_app=True),
    "cdk-no-number": lambda: errors.NotANumberError("-1.888154589708762e+289", '{"Ref":"PortNumber"}'),
    "cdk-select": lambda: SelectError(2, 2),
    "cdk-unreadable": lambda: errors.UnreadableTokenError(
        "${Token[TOKEN.99]}", "Unrecognized token key: TOKEN.99\n    at TokenMap.lookupToken"
    ),
    "cdk-construct": lambda: errors.ConstructGivenError("aws/Bucket"),
    "cdk-patch": lambda: errors.NothingResolvedError("${Token[TOKEN.21]}"),
    "cdk-dynamic": lambda: errors.LeftOverError(
        "{{resolve:secretsmanager:db:SecretString:password::}}", "a dynamic reference of CloudFormation"
    ),
    "cdk-left": lambda: errors.LeftOverError("${TfToken[TOKEN.7]}", "a token of the CDK for Terraform"),
    "cdk-number-in-text": lambda: errors.LeftOverError("-1.8881545897087552e+289", "a token of the CDK"),
    "cdk-stack": lambda: errors.StackNotGivenError("${aws_s3_bucket.Bucket.bucket}", "prod"),
    "cdk-one-state": lambda: errors.OneStateError(["dev", "prod"]),
    "cdk-no-reference": lambda: errors.NotAReferenceError('${join(",", aws_subnet.a.ids)}'),
    "cdk-backend": lambda: errors.UnknownBackendError("aws", "remote"),
    "cdk-no-state": errors.NoStateGivenError,
    "cdk-scheme": lambda: errors.UnknownSchemeError("sms", ["export", "ssm", "secret", "env"]),
    "terraform-sensitive": _of_state("aws_db_instance.main.password"),
    "terraform-sensitive-guess": _of_state("aws_ssm_parameter.url.value"),
    "terraform-sensitive-part": _of_state("aws_lambda_function.api.environment"),
    "terraform-no-address": _of_state("output.buckett"),
    "terraform-instances": _of_state("aws_s3_bucket.logs.bucket"),
    "terraform-no-attribute": _of_state("aws_s3_bucket.site.arm"),
    "terraform-null": _of_state("aws_s3_bucket.site.acl"),
    "terraform-address": lambda: _refusal(lambda: TerraformReference.parse("module.network.vpc_id")),
    "terraform-twice": lambda: StateTwiceError(""),
    "terraform-no-such-state": lambda: NoSuchStateError("network", [""]),
    "terraform-unread": lambda: StateNotReadError(
        "s3://states/site.tfstate", "there is no such object in the bucket; a workspace's is at env:/WORKSPACE/KEY"
    ),
    "terraform-version": lambda: _refusal(lambda: read_state(b'{"version":3,"lineage":"x"}', "old.tfstate")),
    "terraform-encrypted": lambda: _refusal(lambda: read_state(b'{"encrypted_data":"x"}', "site.tfstate")),
}
