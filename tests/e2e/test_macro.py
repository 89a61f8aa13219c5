"""`Transform: StrongRef`, deployed: an object is exported and imported by references, and held while it is.

The templates are the examples; CloudFormation calls the deployed function for them, as it does for any macro.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

import strongref_cli as cli
from strongref.macro.transform import Settings, plan
from strongref_cli.transform.permissions import Principal, policy
from strongref_cli.transform.template_facts import DeploymentTarget
from tests.e2e.conftest import _installed
from tests.e2e.templates import EMPTY, EU, US
from tests.support.documents import ROOT, example, load
from tests.support.emulator.sam import APPLICATION, QUICK
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.harness import Aws, Template
    from tests.support.emulator.control import Emulator

NARROW_ACCOUNT = "777777777706"
EXAMPLES = ROOT / "examples/macro/alb"


class Site:
    """One test's network in eu-west-1 and its site in us-east-1."""

    def __init__(self, aws: Aws, names: Callable[[str], str]) -> None:
        self.aws = aws
        self.network, self.web = names("network"), names("web")

    def publish(self, template: Template, expect: str | None = None) -> None:
        given = [{"ParameterKey": "ConsumerStack", "ParameterValue": self.web}]
        self.aws.deploy(self.network, template, EU, expect, Parameters=given)

    def consume(self, template: Template, expect: str | None = None) -> dict[str, str]:
        parameters = [{"ParameterKey": "NetworkStack", "ParameterValue": self.network}]
        given = parameters if "Parameters" in template else []
        return self.aws.deploy(self.web, template, US, expect, Parameters=given).outputs

    @property
    def values(self) -> dict[str, str]:
        prefix = f"/strongref/exports/{self.web}/{self.aws.account}/{EU}/{self.network}/"
        return {name.removeprefix(prefix): value for name, value in self.aws.values(US, prefix[:-1]).items()}

    def processed(self, stack: str, region: str) -> Any:
        client = self.aws.client("cloudformation", region)
        found = client.get_template(StackName=stack, TemplateStage="Processed")["TemplateBody"]
        return json.loads(json.dumps(found))


@pytest.fixture
def site(aws: Aws, names: Callable[[str], str]) -> Site:
    return Site(aws, names)


def network() -> Template:
    return load(example("macro/alb/network"))


def web() -> Template:
    return load(example("macro/alb/web"))


def by_command(name: str, folder: Path) -> Template:
    """What `strongref transform` writes of an example."""
    out = folder / f"{name}.yaml"
    assert cli.main(["transform", str(EXAMPLES / f"{name}.yaml"), "-o", str(out)]) == 0
    return load(out.read_text())


def replaced() -> Template:
    """The network with another security group: its id is a value of the object."""
    template = network()
    template["Resources"]["SecurityGroup"]["Properties"]["GroupDescription"] = "Another one"
    return template


def refuses_to_change_it(site: Site, changed: Template) -> None:
    before = site.values
    site.publish(changed, "UPDATE_ROLLBACK_COMPLETE")
    reported = (
        f"WebAlb.SecurityGroup.Id cannot be changed: it is imported by stack {site.web} ({US}, {site.aws.account})."
    )
    assert reported in "".join(site.aws.reasons(site.network, EU))
    assert site.values == before


@pytest.mark.story
def test_an_exported_load_balancer_is_imported_in_another_region_and_cannot_be_changed(site: Site) -> None:
    aws = site.aws
    site.publish(network(), "CREATE_COMPLETE")
    ids = aws.physical_ids(site.network, EU)
    assert set(site.values) == {"WebAlb/Arn", "WebAlb/DnsName", "WebAlb/SecurityGroup/Id"}
    assert site.values["WebAlb/Arn"] == ids["LoadBalancer"]

    outputs = site.consume(web(), "CREATE_COMPLETE")
    assert outputs["LoadBalancer"] == ids["LoadBalancer"]
    assert outputs["SecurityGroup"] == site.values["WebAlb/SecurityGroup/Id"]
    distribution = aws.physical_ids(site.web, US)["Distribution"]
    config = aws.client("cloudfront", US).get_distribution_config(Id=distribution)["DistributionConfig"]
    assert config["Origins"]["Items"][0]["DomainName"] == site.values["WebAlb/DnsName"]

    refuses_to_change_it(site, replaced())
    aws.delete(site.network, EU, "UPDATE_ROLLBACK_COMPLETE")
    assert f"in use by strongref-hold-{aws.account}-{site.web}-" in "".join(aws.reasons(site.network, EU))
    found = aws.client("elbv2", EU).describe_load_balancers(LoadBalancerArns=[ids["LoadBalancer"]])
    assert found["LoadBalancers"][0]["DNSName"] == site.values["WebAlb/DnsName"]

    # Without its references the site lets go of what it does not refer to any more, and of nothing else.
    without = web()
    del without["Outputs"]["SecurityGroup"]
    site.consume(without, "UPDATE_COMPLETE")
    aws.delete(site.web, US)
    assert site.values == {}
    aws.delete(site.network, EU)
    assert site.network not in "".join(aws.values(US, "/strongref/"))


class Buckets:
    """A producer of buckets whose names, which nothing but the text says, are exported to one consumer."""

    def __init__(self, site: Site) -> None:
        self.site, self.aws = site, site.aws
        self.physical = {each: f"{site.network}-{each.lower()}" for each in ("One", "Two")}

    def template(self, *exported: str, made: tuple[str, ...] = ("One", "Two"), condition: str = "") -> Template:
        """Each of these buckets, exported by its block if it is to be."""
        target = {"Region": US, "Consumer": self.site.web}
        resources: dict[str, Any] = {"Keeper": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}
        for each in made:
            name = self.physical[each]
            resources[each] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}}
            if each in exported:
                resources[each]["Exports"] = {**target, "Values": {each: name}}
        if condition:
            resources["One"]["Condition"] = "HasOne"
        holds = {"HasOne": {"Fn::Equals": [condition, "yes"]}}
        return {"Transform": "StrongRef", "Resources": resources, **({"Conditions": holds} if condition else {})}

    def imported(self) -> None:
        """The consumer uses the first one."""
        reference = {"From": {"Stack": self.site.network, "Region": EU, "Name": "One"}}
        parameter = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "ValueRef": reference}}
        template = {"Transform": "StrongRef", "Resources": {"Uses": parameter}}
        self.site.consume(template, "CREATE_COMPLETE")

    def refused(self, template: Template) -> None:
        self.site.publish(template, "UPDATE_ROLLBACK_COMPLETE")
        reported = f"One cannot be dropped: it is imported by stack {self.site.web}"
        assert reported in "".join(self.aws.reasons(self.site.network, EU))
        assert self.physical["One"] in self.there

    @property
    def there(self) -> set[str]:
        listed = self.aws.client("s3", EU).list_buckets()["Buckets"]
        return {each["Name"] for each in listed} & set(self.physical.values())

    def gone(self) -> None:
        self.aws.delete(self.site.web, US)
        self.aws.delete(self.site.network, EU)
        assert self.there == set()


@pytest.fixture
def buckets(site: Site) -> Buckets:
    return Buckets(site)


def test_one_of_several_resources_cannot_be_taken_out_with_its_exports_while_it_is_imported(buckets: Buckets) -> None:
    buckets.site.publish(buckets.template("One", "Two"), "CREATE_COMPLETE")
    buckets.imported()
    buckets.refused(buckets.template("Two", made=("Two",)))
    buckets.refused(buckets.template("Two"))
    buckets.site.publish(buckets.template("One", made=("One",)), "UPDATE_COMPLETE")
    assert buckets.there == {buckets.physical["One"]}
    buckets.gone()


def test_the_last_resource_of_a_target_is_held_by_an_export_without_values(buckets: Buckets) -> None:
    buckets.site.publish(buckets.template("One"), "CREATE_COMPLETE")
    buckets.imported()
    keeping = buckets.template(made=("Two",))
    keeping["Resources"]["Keeper"]["Exports"] = {"Region": US, "Consumer": buckets.site.web, "Values": {}}
    buckets.refused(keeping)
    buckets.aws.delete(buckets.site.web, US)
    buckets.site.publish(keeping, "UPDATE_COMPLETE")
    buckets.gone()


def test_a_condition_that_turns_false_is_refused_while_its_resource_is_imported(buckets: Buckets) -> None:
    buckets.site.publish(buckets.template("One", condition="yes"), "CREATE_COMPLETE")
    buckets.imported()
    buckets.refused(buckets.template("One", condition="no"))
    buckets.aws.delete(buckets.site.network, EU, "UPDATE_ROLLBACK_COMPLETE")
    assert buckets.physical["One"] in buckets.there
    buckets.aws.delete(buckets.site.web, US)
    buckets.aws.delete(buckets.site.network, EU)
    buckets.site.publish(buckets.template("One", condition="no"), "CREATE_COMPLETE")
    buckets.site.publish(buckets.template("One", condition="yes"), "UPDATE_COMPLETE")
    assert set(buckets.site.values) == {"One"}
    buckets.site.publish(buckets.template("One", condition="no"), "UPDATE_COMPLETE")
    assert buckets.site.values == {}
    buckets.gone()


def test_a_stack_that_cannot_be_deleted_keeps_what_it_exports(buckets: Buckets) -> None:
    buckets.site.publish(buckets.template("One"), "CREATE_COMPLETE")
    buckets.imported()
    buckets.aws.delete(buckets.site.network, EU, "CREATE_COMPLETE")
    assert buckets.physical["One"] in buckets.there
    assert "in use by strongref-hold-" in "".join(buckets.aws.reasons(buckets.site.network, EU))
    buckets.gone()


def test_items_of_exports_may_come_in_another_order_and_between_others(buckets: Buckets) -> None:
    template = buckets.template()
    first = {"Region": US, "Consumer": buckets.site.web, "Values": {"One": "first"}}
    second = {"Region": [US, EU], "Consumer": buckets.site.web, "Values": {"Two": "second"}}
    third = {"Region": US, "Consumer": f"{buckets.site.web}-other", "Values": {"One": "third"}}
    template["Resources"]["One"]["Exports"] = [first, second]
    buckets.site.publish(template, "CREATE_COMPLETE")
    buckets.imported()
    template["Resources"]["One"]["Exports"] = [second, first]
    buckets.site.publish(template, "CREATE_COMPLETE")  # it is the same: nothing to update
    template["Resources"]["One"]["Exports"] = [third, second, first]
    buckets.site.publish(template, "UPDATE_COMPLETE")
    buckets.gone()


def test_what_the_command_writes_is_what_the_macro_makes_and_holds_alike(site: Site, tmp_path: Path) -> None:
    written = by_command("network", tmp_path), by_command("web", tmp_path)
    site.publish(network(), "CREATE_COMPLETE")
    site.consume(web(), "CREATE_COMPLETE")
    assert site.processed(site.network, EU) == written[0]
    assert site.processed(site.web, US) == written[1]
    site.publish(written[0])  # the same: nothing to update
    assert site.aws.status(site.network, EU) == "CREATE_COMPLETE"
    changed = deepcopy(written[0])
    changed["Resources"]["SecurityGroup"]["Properties"]["GroupDescription"] = "Another one"
    refuses_to_change_it(site, changed)
    site.consume(EMPTY, "UPDATE_COMPLETE")
    site.publish(changed, "UPDATE_COMPLETE")
    site.aws.delete(site.web, US)
    site.aws.delete(site.network, EU)


def test_what_the_deployed_function_answers_is_deployed(site: Site) -> None:
    """As its event is documented, whoever sends it."""
    aws = site.aws
    event = json.loads((ROOT / "tests/events/macro.json").read_text())
    fragment = {key: value for key, value in web().items() if key != "Transform"}
    reported = aws.invoke("Transformer", event | {"fragment": fragment, "region": US, "accountId": aws.account}, US)
    assert (reported.failed, reported.result["status"], reported.result["requestId"]) == (
        False,
        "success",
        event["requestId"],
    )
    site.publish(network(), "CREATE_COMPLETE")
    assert "SecurityGroup" in site.consume(reported.result["fragment"], "CREATE_COMPLETE")
    aws.delete(site.web, US)
    aws.delete(site.network, EU)


def test_a_change_set_shows_the_imports_before_they_are_made(site: Site) -> None:
    aws, client = site.aws, site.aws.client("cloudformation", US)
    site.publish(network(), "CREATE_COMPLETE")
    parameters = [{"ParameterKey": "NetworkStack", "ParameterValue": site.network}]
    given = {"StackName": site.web, "ChangeSetName": "first"}
    client.create_change_set(**given, TemplateBody=json.dumps(web()), ChangeSetType="CREATE", Parameters=parameters)
    changes = client.describe_change_set(**given)["Changes"]
    types = {each["ResourceChange"]["ResourceType"] for each in changes}
    assert types == {"AWS::CloudFront::Distribution", "Custom::CrossRegionImport"}
    client.execute_change_set(**given)
    aws.wait(site.web, US, "CREATE_COMPLETE")
    original = client.get_template(StackName=site.web, TemplateStage="Original")["TemplateBody"]
    assert json.loads(json.dumps(original)) == web()
    aws.delete(site.web, US)
    aws.delete(site.network, EU)


def test_a_template_that_is_wrong_is_refused_with_everything_that_is_wrong(site: Site) -> None:
    wrong = web()
    config = wrong["Resources"]["Distribution"]["Properties"]["DistributionConfig"]
    config["Origins"][0]["DomainName"] = "origin.example.com"
    del wrong["Outputs"]["SecurityGroup"]["ValueRef"]["From"]["Name"]
    with pytest.raises(ClientError) as refused:
        site.consume(wrong)
    text = str(refused.value)
    where = "Distribution.Properties.DistributionConfig.Origins[0].DomainNameRef"
    assert (
        f"failed with: ResourceReferenceAndIDNotSupported: {where}: DomainName and DomainNameRef cannot be combined"
        in text
    )
    assert "Outputs.SecurityGroup.ValueRef.From.Name: must be the name of an export" in text
    assert site.aws.status(site.web, US) is None


def test_what_is_not_made_imports_nothing(site: Site) -> None:
    site.publish(network(), "CREATE_COMPLETE")
    template = web()
    template["Conditions"] = {"IsShown": {"Fn::Equals": [{"Ref": "AWS::Region"}, EU]}}
    for output in template["Outputs"].values():
        output["Condition"] = "IsShown"
    del template["Resources"]["Distribution"]["Properties"]["DistributionConfig"]["Origins"][0]["DomainNameRef"]
    template["Resources"]["Distribution"]["Properties"]["DistributionConfig"]["Origins"][0]["DomainName"] = (
        "a.example.com"
    )
    site.consume(template, "CREATE_COMPLETE")
    assert set(site.aws.physical_ids(site.web, US)) == {"Distribution"}
    site.publish(replaced(), "UPDATE_COMPLETE")
    site.aws.delete(site.web, US)
    site.aws.delete(site.network, EU)


def test_awss_own_transforms_come_after_it(site: Site) -> None:
    """A loop and a function of SAM's, each with references."""
    site.publish(network(), "CREATE_COMPLETE")
    reference = {"From": {"Stack": site.network, "Region": EU, "Name": "WebAlb.Arn"}}
    parameter = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "ValueRef": reference}}
    function = {
        "Handler": "index.handler",
        "Runtime": "python3.13",
        "InlineCode": "def handler(*_): pass",
        "Environment": {"Variables": {"ALB_ARNRef": reference}},
    }
    template = {
        "Transform": ["StrongRef", "AWS::LanguageExtensions", "AWS::Serverless-2016-10-31"],
        "Resources": {
            "Fn::ForEach::Parameters": ["Letter", ["A", "B"], {"Of${Letter}": parameter}],
            "Function": {"Type": "AWS::Serverless::Function", "Properties": function},
        },
    }
    site.consume(template, "CREATE_COMPLETE")
    ids = site.aws.physical_ids(site.web, US)
    assert len([name for name in ids if name.startswith("Imports")]) == 1
    arn = site.values["WebAlb/Arn"]
    ssm = site.aws.client("ssm", US)
    assert [ssm.get_parameter(Name=ids[name])["Parameter"]["Value"] for name in ("OfA", "OfB")] == [arn, arn]
    made = site.aws.client("lambda", US).get_function_configuration(FunctionName=ids["Function"])
    assert made["Environment"]["Variables"] == {"ALB_ARN": arn}
    site.aws.delete(site.web, US)
    site.aws.delete(site.network, EU)


def test_an_import_keeps_the_export_and_what_it_exports_in_the_template(site: Site) -> None:
    site.publish(network(), "CREATE_COMPLETE")
    before = site.aws.physical_ids(site.network, EU)
    (export,) = [name for name in before if name.startswith("Exports")]
    assert site.aws.outputs(site.network, EU) == {f"{export}Hold": f"{site.network}-{export}"}
    site.consume(web(), "CREATE_COMPLETE")

    without = network()
    del without["Resources"]["LoadBalancer"]
    site.publish(without, "UPDATE_ROLLBACK_COMPLETE")
    site.aws.delete(site.network, EU, "UPDATE_ROLLBACK_COMPLETE")
    assert site.aws.physical_ids(site.network, EU) == before
    assert {"WebAlb/Arn", "WebAlb/DnsName"} < site.values.keys()

    site.aws.delete(site.web, US)
    site.publish(without, "UPDATE_COMPLETE")
    assert site.values == {}
    site.aws.delete(site.network, EU)


def test_a_loop_exports_each_resource_with_a_hold(site: Site) -> None:
    exports = {"As": "TopicArn", "Region": US, "Consumer": {"Fn::Sub": "letter-${Letter}"}}
    topic = {"Type": "AWS::SNS::Topic", "Exports": exports}
    template = {
        "Transform": ["StrongRef", "AWS::LanguageExtensions"],
        "Resources": {"Fn::ForEach::Topics": ["Letter", ["A", "B"], {"Topic${Letter}": topic}]},
    }
    site.aws.deploy(site.network, template, EU, "CREATE_COMPLETE")
    ids = site.aws.physical_ids(site.network, EU)
    made = [name for name in ids if "Exports" in name]
    assert sorted(name[:13] for name in made) == ["TopicAExports", "TopicBExports"]
    ssm = site.aws.client("ssm", US)
    for letter in "AB":
        name = f"/strongref/exports/letter-{letter}/{site.aws.account}/{EU}/{site.network}/TopicArn"
        assert ssm.get_parameter(Name=name)["Parameter"]["Value"] == ids[f"Topic{letter}"]
    assert site.aws.outputs(site.network, EU) == {f"{name}Hold": f"{site.network}-{name}" for name in made}
    exported = site.aws.client("cloudformation", EU).list_exports()["Exports"]
    assert {f"{site.network}-{name}" for name in made} <= {each["Name"] for each in exported}
    site.aws.delete(site.network, EU)


def test_a_macro_that_there_is_not_is_reported_as_such(site: Site, other_account: Aws) -> None:
    with pytest.raises(ClientError, match=f"No transform named {site.aws.account}::StrongerRef found"):
        site.consume(EMPTY | {"Transform": ["StrongRef", "StrongerRef"]})
    with pytest.raises(ClientError, match=f"No transform named {other_account.account}::StrongRef found"):
        other_account.deploy(site.web, EMPTY | {"Transform": "StrongRef"}, US)


def test_who_deploys_needs_to_invoke_the_function_and_the_commands_policy_allows_it(
    site: Site, names: Callable[[str], str]
) -> None:
    """CloudFormation calls a macro as whoever deploys with it."""
    aws, iam = site.aws, site.aws.client("iam", US)
    user = names("deployer")
    iam.create_user(UserName=user)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    stacks = {"Effect": "Allow", "Action": ["cloudformation:*", "ssm:*"], "Resource": "*"}
    iam.put_user_policy(
        UserName=user, PolicyName="stacks", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [stacks]})
    )
    template = {
        "Transform": "StrongRef",
        "Resources": {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
    }
    client = aws.emulator.client("cloudformation", US, key=(key["AccessKeyId"], key["SecretAccessKey"]))
    given = {"StackName": site.web, "TemplateBody": json.dumps(template), "Capabilities": ["CAPABILITY_AUTO_EXPAND"]}
    with pytest.raises(ClientError, match="is not authorized to perform: lambda:InvokeFunction"):
        client.create_stack(**given)
    document = policy(template, Principal.DEPLOYER, DeploymentTarget(US, aws.account))
    iam.put_user_policy(UserName=user, PolicyName="references", PolicyDocument=json.dumps(document))
    functions = aws.emulator.client("lambda", US, key=(key["AccessKeyId"], key["SecretAccessKey"]))
    with pytest.raises(ClientError, match="is not authorized to perform: lambda:InvokeFunction"):
        functions.invoke(FunctionName=aws.physical_ids(APPLICATION, US)["Transformer"], Payload="{}")
    client.create_stack(**given)
    aws.wait(site.web, US, "CREATE_COMPLETE")
    aws.delete(site.web, US)


def test_the_functions_need_no_more_than_the_commands_policies_say(
    emulator: Emulator, tmp_path_factory: pytest.TempPathFactory, names: Callable[[str], str]
) -> None:
    """In an account of its own, the exporter and the importer may do what the policies allow, and log."""
    site = Site(_installed(emulator, tmp_path_factory, NARROW_ACCOUNT, QUICK, None), names)
    aws, producer, consumer = site.aws, network(), web()
    for template, principal, setting in (
        (
            producer,
            Principal.EXPORTER,
            DeploymentTarget(EU, NARROW_ACCOUNT, site.network, parameters={"ConsumerStack": site.web}),
        ),
        (
            consumer,
            Principal.IMPORTER,
            DeploymentTarget(US, NARROW_ACCOUNT, site.web, parameters={"NetworkStack": site.network}),
        ),
    ):
        document = policy(plan(template, Settings()).apply(template), principal, setting)
        logs = {"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "*"}
        role = aws.physical_ids(APPLICATION, setting.region)[f"{principal.value.title()}Role"]
        given = json.dumps({**document, "Statement": [*document["Statement"], logs]})
        aws.client("iam", US).put_role_policy(RoleName=role, PolicyName=principal.value, PolicyDocument=given)

    site.publish(producer, "CREATE_COMPLETE")
    site.consume(consumer, "CREATE_COMPLETE")
    refuses_to_change_it(site, replaced())
    aws.client("ssm", US).delete_parameter(
        Name=f"/strongref/exports/{site.web}/{NARROW_ACCOUNT}/{EU}/{site.network}/WebAlb/Arn"
    )
    fewer = web()
    del fewer["Outputs"]["SecurityGroup"]
    site.consume(fewer, "UPDATE_COMPLETE")  # and what was gone is put back
    assert "WebAlb/Arn" in site.values
    aws.delete(site.web, US)
    assert site.values == {}
    site.publish(replaced(), "UPDATE_COMPLETE")
    aws.delete(site.network, EU)

    elsewhere = web() | {"Parameters": {"NetworkStack": {"Type": "String", "Default": "another"}}}
    other = names("other")
    aws.begin(other, elsewhere, US)  # The functions may not even ask about its events.
    denied = f"could not be asked about stack {aws.stack_arn(other, US)}: AccessDenied"
    wait_until(lambda: denied in "".join(aws.reasons(other, US)), lambda: f"{other}: {aws.reasons(other, US)}")
