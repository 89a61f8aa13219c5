"""The two stacks of one check: a producer and a consumer, as users write them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongref.aws.clients import Clients
from strongref.contract.names import CLAIM_TAG, ExportScope, Key, Producer
from strongref_cli.doctor.abroad import invoke_janitor
from strongref_cli.selftest.lab import Ended, Lab, ensure
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Template = dict[str, Any]

CREATED, UPDATED, REFUSED = "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"
NOTHING = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
"""A resource that costs nothing, needs no permission, and has a value of its own."""


@dataclass(frozen=True)
class Scene:
    """A check's stacks `<run>-<check>-network` and `<run>-<check>-web`, each in its region."""

    lab: Lab
    check: str
    web: Lab  # the consumer's, in another account or the same

    @property
    def path(self) -> str:
        """What the names of its own parameters begin with."""
        return f"/{self.lab.name}-{self.check}"

    @property
    def producer(self) -> str:
        return f"{self.lab.name}-{self.check}-network"

    @property
    def consumer(self) -> str:
        return f"{self.lab.name}-{self.check}-web"

    @property
    def scope(self) -> ExportScope:
        return ExportScope(self.consumer, Producer(self.lab.account, self.lab.regions[0], self.producer))

    def export(self, values: Mapping[str, Any], **more: Any) -> Template:
        """An Export of these values to the consumer."""
        abroad = {"Account": self.web.account} if self.web is not self.lab else {}
        target = {"Region": self.lab.regions[1], "Consumer": self.consumer, **abroad}
        properties = {"ServiceToken": {"Fn::ImportValue": "strongref-exporter"}, **target, "Values": values, **more}
        return {"Type": "Custom::CrossRegionExport", "DependsOn": "Nothing", "Properties": properties}

    def _import(self, names: Sequence[str], **more: str) -> Template:
        producer = {"Stack": self.producer, "Region": self.lab.regions[0], "Account": self.lab.account}
        properties = {"ServiceToken": {"Fn::ImportValue": "strongref-importer"}, "From": producer, "Names": names}
        return {"Type": "Custom::CrossRegionImport", "Properties": properties, **more}

    def connect(self, values: Mapping[str, Any], *names: str, **more: Any) -> Ended:
        """Create the producer with one Export of these values, and the consumer with an Import of these names."""
        self.publish(values, **more).expect(CREATED)
        return self.consume(*names).expect(CREATED)

    def publish(self, values: Mapping[str, Any], **more: Any) -> Ended:
        """Deploy the producer with one Export of these values."""
        return self.produce({"Exports": self.export(values, **more)})

    def produce(self, resources: Template, outputs: Template | None = None) -> Ended:
        return self.deploy_producer({"Resources": {"Nothing": NOTHING, **resources}, "Outputs": outputs})

    def consume(self, *names: str, fails: bool = False, **request: str) -> Ended:
        """Deploy the consumer with one Import of these names, and an output for each; names of lists end with `[]`.

        If it fails, that is after the Import: another one, of what is missing.
        """
        plain = [name.removesuffix("[]") for name in names]
        resources = {"Imports": self._import(plain)}
        if fails:
            resources["Fails"] = self._import(["Missing"], DependsOn="Imports")
        outputs: Template = {}
        for at, name in enumerate(plain):
            value = {"Fn::GetAtt": ["Imports", name]}
            outputs[f"Value{at}"] = {"Value": value if name == names[at] else {"Fn::Join": [",", value]}}
        return self.deploy_consumer({"Resources": resources, "Outputs": outputs}, **request)

    def deploy_producer(self, template: Template, **request: str) -> Ended:
        return self.lab.deploy(self.lab.regions[0], self.producer, template, **request)

    def deploy_consumer(self, template: Template, **request: str) -> Ended:
        return self.web.deploy(self.lab.regions[1], self.consumer, template, **request)

    def import_early(self, template: Template) -> Ended:
        """Create the consumer next to the producer; its export is not there, which may be found at once or later."""
        try:
            return self.lab.deploy(self.lab.regions[0], self.consumer, template)
        except AwsCallError as error:
            if "No export named" not in str(error):
                raise
            return Ended("", str(error))

    def delete_producer(self) -> Ended:
        return self.lab.delete(self.lab.regions[0], self.producer)

    def delete_consumer(self) -> Ended:
        return self.web.delete(self.lab.regions[1], self.consumer)

    def settle(self, export: str, *, held: bool) -> None:
        """See to it that the producer is held, or no longer. If another account imports, only the janitor does that."""
        lab, region = self.lab, self.lab.regions[0]

        def settled() -> bool:
            list(invoke_janitor(lab.session, region))
            return bool(lab.stacks(region).importers(export)) is held

        if self.web is not lab:
            lab.wait(settled, "The janitor")

    def stored(self, key: str) -> Mapping[str, Any] | None:
        """The parameter of a value as SSM shows it, without its value unless it is plain; None if there is none."""
        names = [self.scope.parameter_name(Key(key))]
        found = self.web.call(Clients.ssm, "GetParameters", self.lab.regions[1], Names=names)
        return next(iter(found["Parameters"]), None)

    def claims(self, key: str) -> dict[str, str]:
        """The claims on a value: the ARN of the stack by the tag; none if the value is gone."""
        tagged = {"ResourceType": "Parameter", "ResourceId": self.scope.parameter_name(Key(key))}
        try:
            tags = self.web.call(Clients.ssm, "ListTagsForResource", self.lab.regions[1], **tagged)["TagList"]
        except AwsCallError as error:
            if error.code != "InvalidResourceId":
                raise
            return {}
        return {each["Key"]: each["Value"] for each in tags if each["Key"].startswith(CLAIM_TAG)}

    def is_there(self, key: str, value: str, *claimants: str) -> None:
        """Raises `UnexpectedError` unless a value is stored, with the claims of exactly these stacks."""
        found = self.stored(key)
        what = f"{key} is {'changed' if found else 'gone'}, not what it was exported as"
        ensure(found and found["Value"] == value, what)
        by = sorted(arn.split("/")[1] for arn in self.claims(key).values())
        ensure(by == sorted(claimants), f"{key} is claimed by {by or 'nobody'}, not by {list(claimants)}")
