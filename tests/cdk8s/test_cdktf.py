"""Tokens of the real CDK for Terraform in real cdk8s apps, and a state in Terraform's own format."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk
import cdk8s
import cdktf
import jsii
import pytest

from strongref_cdk8s import AwsCdkResolver, CdkTfResolver
from strongref_cdk8s.errors import (
    ConstructGivenError,
    NoStateGivenError,
    NotANumberError,
    NotAReferenceError,
    OneStateError,
    SeveralStacksError,
)
from strongref_manifests.errors import BadAddressError, SensitiveError
from strongref_manifests.terraform.states import TerraformState, read_state
from strongref_toolkit.errors import ResolveError
from tests.support.cdk8s_apps import Manifests

if TYPE_CHECKING:
    from collections.abc import Mapping

STATE = Path(__file__).parents[1] / "terraform" / "site.tfstate"


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return cdktf.TerraformStack(cdktf.App(outdir=str(tmp_path / "cdktf.out")), "Stack")


def resource(stack: Any, kind: str, name: str) -> Any:
    return cdktf.TerraformResource(stack, name, terraform_resource_type=kind)


def manifests(data: Mapping[str, Any], *resolvers: object) -> Manifests:
    made = Manifests(*resolvers)
    made.config_map("C", data)
    return made


def failing(made: Manifests) -> str:
    with pytest.raises(RuntimeError) as failed:
        made.written()
    return str(failed.value)


def test_a_reference_becomes_what_the_state_has_at_its_address(stack: Any) -> None:
    bucket = resource(stack, "aws_s3_bucket", "site")
    vpc = cdktf.TerraformDataSource(stack, "default", terraform_resource_type="aws_vpc")
    database = resource(stack, "aws_db_instance", "main")
    data = {
        "name": bucket.get_string_attribute("bucket"),
        "url": f"s3://{bucket.get_string_attribute('bucket')}/$${{x}}",
        "tag": cdktf.Fn.lookup(bucket.get_string_map_attribute("tags"), "Cost center"),
        "vpc": vpc.get_string_attribute("id"),
        "port": database.get_string_attribute("port"),
        "plain": "x",
    }
    assert manifests(data, CdkTfResolver(stack, state=str(STATE))).data() == {
        "name": "site-7f3a",
        "url": "s3://site-7f3a/$${x}",
        "tag": "4711",
        "vpc": "vpc-0default",
        "port": "5432",
        "plain": "x",
    }


def test_a_state_alone_is_enough_for_references(stack: Any) -> None:
    bucket = resource(stack, "aws_s3_bucket", "site")
    data = {"name": bucket.get_string_attribute("bucket")}
    assert manifests(data, CdkTfResolver(state=str(STATE))).data() == {"name": "site-7f3a"}


def test_lists_maps_and_numbers_are_written_as_such(stack: Any) -> None:
    worker = resource(stack, "aws_lambda_function", "api")
    bucket = resource(stack, "aws_s3_bucket", "site")
    output = cdktf.TerraformOutput(stack, "subnet_ids", value=cdktf.Fn.compact(worker.get_list_attribute("ids")))
    resolver = CdkTfResolver(stack, state=str(STATE))
    made = Manifests(resolver)
    made.pod(
        "P",
        args=worker.get_list_attribute("architectures"),
        command=cdktf.Token.as_list(output.value),
        ports=[{"containerPort": worker.get_number_attribute("timeout")}],
    )
    container = made.container()
    assert container["args"] == ["arm64"]
    assert container["command"] == ["subnet-0aaa", "subnet-0bbb"]
    assert container["ports"] == [{"containerPort": 30}]
    tags = bucket.get_string_map_attribute("tags")
    assert resolver.concerns(tags)
    assert resolver.whole(tags) == {"Cost center": "4711", "Name": "site"}
    own = worker.get_boolean_attribute("publish")
    assert resolver.concerns(own)
    with pytest.raises(ResolveError, match=r"has no \.publish"):
        resolver.whole(own)


def test_what_only_terraform_can_evaluate_is_an_output_of_its_stack(stack: Any) -> None:
    bucket = resource(stack, "aws_s3_bucket", "site")
    joined = cdktf.Fn.join("-", [bucket.get_string_attribute("bucket"), "x"])
    output = cdktf.TerraformOutput(stack, "bucket", value=joined)
    data = {"function": joined, "output": output.value}
    assert manifests(data, CdkTfResolver(stack, state=str(STATE))).data() == {
        "function": "site-7f3a",
        "output": "site-7f3a",
    }
    for resolver in (CdkTfResolver(stack, state=str(STATE)), CdkTfResolver(state=str(STATE))):
        text = failing(manifests({"other": cdktf.Fn.upper(joined)}, resolver))
        assert "Make it the value of a TerraformOutput of that stack" in text


def test_a_whole_resource_is_the_map_of_its_attributes(stack: Any, tmp_path: Path) -> None:
    bucket = resource(stack, "aws_s3_bucket", "Bucket")
    for output, value in {"whole": bucket, "within": {"a": [bucket]}, "stack": stack}.items():
        cdktf.TerraformOutput(stack, output, value=value)
    joined = cdktf.Fn.join("-", [bucket.get_string_attribute("bucket"), "x"])
    cdktf.TerraformOutput(stack, "joined", value=joined)
    attributes = {"bucket": "b", "arn": "arn:b", "tags": {"a": "b"}}
    resolver = CdkTfResolver(stack, state=in_state(tmp_path, "s", attributes, joined="b-x"))
    for value in (bucket, bucket.fqn, cdktf.Token.as_any(bucket.fqn)):
        assert resolver.concerns(value)
        assert resolver.whole(value) == attributes
    assert resolver.whole(joined) == "b-x"  # Outputs of whole resources do not keep others from being read.
    secret = CdkTfResolver(stack, state=in_state(tmp_path, "t", {"password": "correct-horse"}))
    with pytest.raises(SensitiveError, match=r"aws_s3_bucket.Bucket is not given out: \.password in it"):
        secret.whole(bucket)
    for construct, path in ((stack, "Stack"), (stack.node.root, "App")):
        with pytest.raises(ConstructGivenError, match=f"The construct {path} is not a value"):
            resolver.whole(construct)


def test_what_is_sensitive_is_refused_unless_it_is_asked_for(stack: Any) -> None:
    database = resource(stack, "aws_db_instance", "main")
    data = {"password": database.get_string_attribute("password")}
    text = failing(manifests(data, CdkTfResolver(stack, state=str(STATE))))
    assert "Manifest/C, data.password: aws_db_instance.main.password is not given out: it is sensitive" in text
    assert "correct-horse" not in text
    for given in ({"sensitive": True}, {"allow": ["aws_db_instance.main.password"]}):
        assert manifests(data, CdkTfResolver(stack, state=str(STATE), **given)).data() == {"password": "correct-horse"}
    with pytest.raises(BadAddressError, match="aws_db_instance is no address"):
        CdkTfResolver(stack, allow=["aws_db_instance"])


def test_every_value_that_is_not_in_the_state_is_reported(stack: Any, tmp_path: Path) -> None:
    bucket = resource(stack, "aws_s3_bucket", "side")
    data = {"a": bucket.get_string_attribute("bucket"), "b": "${TfToken[TOKEN.99999]}"}
    made = Manifests(CdkTfResolver(stack, state=str(STATE)), outdir=tmp_path / "dist")
    made.config_map("C", data)
    patched = made.config_map("P", {"a": "x"})
    patched.add_json_patch(cdk8s.JsonPatch.add("/data/b", bucket.get_number_attribute("n")))
    patched.add_json_patch(cdk8s.JsonPatch.add("/data/c", bucket.get_string_map_attribute("m")))
    with pytest.raises(RuntimeError) as failed:
        made.app.synth()
    text = str(failed.value)
    assert "data.a: There is no aws_s3_bucket.side in the Terraform state" in text
    assert "Did you mean aws_s3_bucket.site" in text
    assert "data.b: ${TfToken[TOKEN.99999]} cannot be read" in text
    assert "Manifest/P, data.b: -8.1" in text
    assert "Manifest/P, data.c.&{TfToken[" in text
    assert list((tmp_path / "dist").iterdir()) == []


def test_a_state_is_where_the_stack_s_own_backend_keeps_it(stack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(where: str, _aws: object) -> TerraformState:
        read.append(where)
        return read_state(STATE.read_bytes(), where)

    monkeypatch.setattr("strongref_cdk8s.cdktf.read_at", reading)

    def resolved(stack: Any) -> dict[str, Any]:
        data = {"name": resource(stack, "aws_s3_bucket", "site").get_string_attribute("bucket")}
        return manifests(data, CdkTfResolver(stack)).data()

    app = stack.node.root
    resolved(stack)
    local = cdktf.TerraformStack(app, "Local")
    cdktf.LocalBackend(local, path="/states/local.tfstate")
    resolved(local)
    remote = cdktf.TerraformStack(app, "Remote")
    cdktf.S3Backend(remote, bucket="states", key="a/b", region="eu-west-1")
    resolved(remote)
    bare = cdktf.TerraformStack(app, "Bare")
    cdktf.S3Backend(bare, bucket="states", key="c", workspace_key_prefix="w")
    resolved(bare)
    assert read == ["terraform.Stack.tfstate", "/states/local.tfstate", "s3://states/a/b@eu-west-1", "s3://states/c"]
    relative = cdktf.TerraformStack(app, "Relative")
    cdktf.LocalBackend(relative, path="x.tfstate")
    resolved(relative)
    assert read[-1] == f"{app.outdir}/stacks/Relative/x.tfstate"
    cloud = cdktf.TerraformStack(app, "Cloud")
    cdktf.CloudBackend(cloud, organization="o", workspaces=cdktf.NamedCloudWorkspace("n"))
    with pytest.raises(RuntimeError, match=r"The state of stack Cloud is in a backend of kind cloud"):
        resolved(cloud)
    other = cdktf.TerraformStack(app, "Other")
    cdktf.HttpBackend(other, address="https://states")
    with pytest.raises(RuntimeError, match=r"The state of stack Other is in a backend of kind http"):
        resolved(other)


def test_of_several_stacks_it_is_the_one_that_defines_it(stack: Any, tmp_path: Path) -> None:
    other = cdktf.TerraformStack(stack.node.root, "Other")
    third = cdktf.TerraformStack(stack.node.root, "Third")
    (tmp_path / "terraform.Third.tfstate").write_bytes(STATE.read_bytes())
    site, logs = resource(stack, "aws_s3_bucket", "site"), resource(other, "aws_instance", "worn")
    for each in (stack, other):
        resource(each, "aws_vpc", "twice")
    twice = resource(third, "aws_vpc", "twice").get_string_attribute("id")
    elsewhere = resource(cdktf.TerraformStack(stack.node.root, "NotGiven"), "aws_eip", "one")
    for each in (stack, third):
        cdktf.TerraformOutput(each, "private", value=cdktf.Fn.upper(twice))
    cdktf.TerraformOutput(other, "bucket", value=cdktf.Fn.lower(site.get_string_attribute("arn")))

    def resolver() -> CdkTfResolver:
        return CdkTfResolver(stack, other, third, state={"Stack": str(STATE), "Other": str(STATE)})

    data = {
        "site": site.get_string_attribute("arn"),
        "worn": logs.get_string_attribute("id"),
        "output": cdktf.Fn.lower(site.get_string_attribute("arn")),
    }
    assert manifests(data, resolver()).data() == {
        "site": "arn:aws:s3:::site-7f3a",
        "worn": "i-0worn",
        "output": "site-7f3a",
    }
    text = failing(
        manifests(
            {"twice": twice, "upper": cdktf.Fn.upper(twice), "elsewhere": elsewhere.get_string_attribute("id")},
            resolver(),
        )
    )
    assert "data.twice: There is no aws_vpc.twice in the Terraform state terraform.Third.tfstate" in text
    assert "data.upper" not in text  # Its own stack has not applied that output, and another one has.
    assert "data.elsewhere: ${aws_eip.one.id} belongs to a stack NotGiven that CdkTfResolver was not given" in text


def in_state(tmp_path: Path, name: str, attributes: Mapping[str, Any], **outputs: Any) -> str:
    """A state with one bucket, which is called Bucket."""
    instance = {"attributes": dict(attributes)}
    resources = [{"mode": "managed", "type": "aws_s3_bucket", "name": "Bucket", "instances": [instance]}]
    given = {each: {"value": value} for each, value in outputs.items()}
    file = tmp_path / f"{name}.tfstate"
    file.write_text(json.dumps({"version": 4, "lineage": "x", "outputs": given, "resources": resources}))
    return str(file)


def test_stacks_that_are_built_alike_are_distinguished(stack: Any, tmp_path: Path) -> None:
    """One for each stage: their addresses are the same, and so are their outputs."""
    app = stack.node.root
    stages = {name: cdktf.TerraformStack(app, name) for name in ("dev", "prod")}
    buckets = {name: resource(each, "aws_s3_bucket", "Bucket") for name, each in stages.items()}
    state = {name: in_state(tmp_path, name, {"bucket": f"of-{name}"}, up=f"UP-{name}") for name in stages}
    data = {}
    for name, bucket in buckets.items():
        data[name] = bucket.get_string_attribute("bucket")
        data[f"{name}-up"] = cdktf.Fn.upper(bucket.get_string_attribute("bucket"))
        cdktf.TerraformOutput(stages[name], "up", value=cdktf.Fn.upper(bucket.get_string_attribute("bucket")))
    expected = {"dev": "of-dev", "dev-up": "UP-dev", "prod": "of-prod", "prod-up": "UP-prod"}
    before = [len(each.node.find_all()) for each in stages.values()]
    assert manifests(data, CdkTfResolver(*stages.values(), state=state)).data() == expected
    assert [len(each.node.find_all()) for each in stages.values()] == before
    text = failing(manifests({"a": data["prod"], "b": data["prod-up"]}, CdkTfResolver(stages["dev"], state=state)))
    assert "data.a: ${aws_s3_bucket.Bucket.bucket} belongs to a stack prod that CdkTfResolver was not given" in text
    assert "data.b: ${upper(aws_s3_bucket.Bucket.bucket)} is not a reference to an attribute of a given stack" in text
    text = failing(manifests({"a": data["dev"], "b": data["prod"]}, CdkTfResolver(state=state["dev"])))
    assert "data.b: ${aws_s3_bucket.Bucket.bucket} may belong to dev and prod" in text
    with pytest.raises(OneStateError, match="One state is given for the stacks dev and prod, but each has its own"):
        CdkTfResolver(*stages.values(), state=state["dev"])


def test_what_names_no_stack_belongs_to_the_only_one_that_defines_it(stack: Any, tmp_path: Path) -> None:
    other = cdktf.TerraformStack(stack.node.root, "Other")
    resource(other, "aws_s3_bucket", "Bucket")
    for each in (stack, other):
        resource(each, "aws_s3_bucket", "Twice")
        cdktf.TerraformOutput(each, "up", value=cdktf.Token.as_string("${upper(data.x.y.z)}"))
    state = {"Other": in_state(tmp_path, "Other", {"bucket": "b"}, up="UP"), "Stack": str(STATE)}
    bare = {name: cdktf.Token.as_any(f"${{{name}}}") for name in ("aws_s3_bucket.Bucket.bucket",)}
    resolver = CdkTfResolver(stack, other, state=state)
    assert resolver.whole(bare["aws_s3_bucket.Bucket.bucket"]) == "b"
    with pytest.raises(SeveralStacksError, match="may belong to Stack and Other"):
        resolver.whole(cdktf.Token.as_any("${aws_s3_bucket.Twice.bucket}"))
    with pytest.raises(SeveralStacksError, match="may belong to Stack and Other"):
        resolver.whole(cdktf.Token.as_any("${upper(data.x.y.z)}"))
    with pytest.raises(NotAReferenceError):
        resolver.whole(cdktf.Token.as_any("${aws_s3_bucket.None.bucket}"))


def test_of_several_outputs_of_one_value_one_that_is_applied_will_do(stack: Any, tmp_path: Path) -> None:
    bucket = resource(stack, "aws_s3_bucket", "Bucket")
    value = cdktf.Fn.upper(bucket.get_string_attribute("bucket"))
    for name in ("a", "up"):
        cdktf.TerraformOutput(stack, name, value=value)
    state = in_state(tmp_path, "s", {"bucket": "b"}, up="UP")
    assert manifests({"x": value}, CdkTfResolver(stack, state=state)).data() == {"x": "UP"}
    text = failing(manifests({"x": value}, CdkTfResolver(stack, state=in_state(tmp_path, "t", {"bucket": "b"}))))
    assert "data.x: There is no output.a in the Terraform state" in text


def test_an_output_that_is_defined_later_is_found_then(stack: Any, tmp_path: Path) -> None:
    bucket = resource(stack, "aws_s3_bucket", "Bucket")
    value = cdktf.Fn.upper(bucket.get_string_attribute("bucket"))
    made = manifests({"x": value}, CdkTfResolver(stack, state=in_state(tmp_path, "s", {"bucket": "b"}, up="UP")))
    assert "only Terraform can evaluate it" in failing(made)
    cdktf.TerraformOutput(stack, "up", value=value)
    assert made.data() == {"x": "UP"}


def test_text_that_holds_an_expression_is_no_value(stack: Any) -> None:
    bucket = resource(stack, "aws_s3_bucket", "site")
    name = bucket.get_string_attribute("bucket")

    @jsii.implements(cdktf.IStringProducer)
    class Inside:
        def produce(self, _context: Any) -> str:
            return f"pw-hunter2-{name}"

    text = failing(manifests({"x": cdktf.Lazy.string_value(Inside())}, CdkTfResolver(stack, state=str(STATE))))
    assert "is not a reference to an attribute" in text
    assert "hunter2" not in text.partition("could not be resolved")[2]


def test_a_number_that_would_not_stay_exact_is_refused(stack: Any, tmp_path: Path) -> None:
    bucket = resource(stack, "aws_s3_bucket", "Bucket")
    resolver = CdkTfResolver(stack, state=in_state(tmp_path, "s", {"big": 2**53, "port": 80}))
    assert resolver.whole(bucket.get_number_attribute("port")) == 80
    with pytest.raises(NotANumberError, match=r"of \$\{aws_s3_bucket.Bucket.big\} is not one, or is too large"):
        resolver.whole(bucket.get_number_attribute("big"))


PROGRAM = """
import sys
import aws_cdk, cdk8s, cdktf
from cdk8s_plus_31 import k8s
from strongref_cdk8s import AwsCdkResolver, CdkTfResolver
state, elsewhere = sys.argv[1:]
stack = cdktf.TerraformStack(cdktf.App(outdir=elsewhere), "aws")
bucket = cdktf.TerraformResource(stack, "site", terraform_resource_type="aws_s3_bucket")
app = cdk8s.App(resolvers=[AwsCdkResolver(), CdkTfResolver(stack, state=state)])
data = {"name": bucket.get_string_attribute("bucket"), "lazy": aws_cdk.Token.as_string(5)}
k8s.KubeConfigMap(cdk8s.Chart(app, "Manifest"), "C", data=data)
print(app.synth_yaml())
"""


def test_nothing_is_left_where_the_program_runs(tmp_path: Path) -> None:
    """Both CDKs write where they are pointed by whoever runs them, or where the process began."""
    here = tmp_path / "here"
    here.mkdir()
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM, str(STATE), str(tmp_path / "elsewhere")],
        cwd=here,
        env={**os.environ, "CDK_OUTDIR": str(here / "cdk.out")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ('lazy: "5"' in ran.stdout, "name: site-7f3a" in ran.stdout) == (True, True), ran.stderr
    assert list(here.iterdir()) == []


def test_references_between_stacks_are_resolved_in_the_stack_that_they_refer_to(stack: Any) -> None:
    """Once cdktf has written its app, the same token is another one in the other stack. It writes the same again."""
    other = cdktf.TerraformStack(stack.node.root, "Other")
    name = resource(stack, "aws_s3_bucket", "site").get_string_attribute("bucket")
    cdktf.TerraformOutput(other, "theirs", value=name)
    stack.node.root.synth()
    before = cdktf.Testing.synth(other)
    assert manifests({"name": name}, CdkTfResolver(stack, other, state={"Stack": str(STATE)})).data() == {
        "name": "site-7f3a"
    }
    assert cdktf.Testing.synth(other) == before


def test_without_a_stack_or_a_state_there_is_nothing_to_look_in() -> None:
    with pytest.raises(NoStateGivenError, match="needs the stacks"):
        CdkTfResolver()
    with pytest.raises(NoStateGivenError):
        CdkTfResolver(state={"Stack": "x"})


def test_both_cdks_can_be_in_one_app(stack: Any) -> None:
    """A single number that is a token of the one looks like a list of numbers of the other."""
    bucket = resource(stack, "aws_s3_bucket", "site")
    aws = aws_cdk.Stack(aws_cdk.App(), "aws")
    port = aws_cdk.CfnParameter(aws, "Port", type="Number")
    tf, cdk = CdkTfResolver(stack, state=str(STATE)), AwsCdkResolver()
    assert not tf.concerns([port.value_as_number])
    assert not tf.concerns([-1.888154589709072e289])
    assert cdk.concerns(port.value_as_number)
    assert tf.concerns(bucket.get_number_list_attribute("ports"))
    assert not cdk.concerns(bucket.get_number_list_attribute("ports"))
    assert not tf.concerns(port.value_as_string)
    assert not cdk.concerns(bucket.get_string_attribute("bucket"))
    text = failing(manifests({"a": bucket.get_string_attribute("bucket"), "b": port.value_as_string}, tf, cdk))
    assert "1 value could not be resolved" in text
    assert 'defined for token: {"Ref":"Port"}' in text


def test_what_is_asked_as_a_number_is_one(stack: Any) -> None:
    bucket = resource(stack, "aws_s3_bucket", "site")
    resolver = CdkTfResolver(stack, state=str(STATE))
    with pytest.raises(ResolveError, match="must be a number"):
        resolver.whole(bucket.get_number_attribute("bucket"))
    cost = cdktf.Token.as_number(cdktf.Fn.lookup(bucket.get_string_map_attribute("tags"), "Cost center"))
    assert resolver.whole(cost) == 4711
    lazy = cdktf.Token.as_string(5)
    assert resolver.whole(lazy) == 5
    assert resolver.whole(cdktf.Token.as_list(["plain"])) == ["plain"]
