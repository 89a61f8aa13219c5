"""The functions of each ready type, with the types that editors show: methods of one class, named for the type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from strongref_cdk import ready, sharing
from strongref_cdk.apps import at, exporting, importing, stack_of
from strongref_cdk.construct_kinds import ConstructPlace, members_and_options
from strongref_cdk.errors import NoListenerError
from strongref_objects.base import ResolveType
from strongref_toolkit.jsii_objects import reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_certificatemanager as acm
    from aws_cdk import aws_dynamodb as dynamodb
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_ecs as ecs
    from aws_cdk import aws_elasticloadbalancingv2 as elbv2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_lambda as lambda_
    from aws_cdk import aws_route53 as route53
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_sns as sns
    from aws_cdk import aws_sqs as sqs
    from constructs import Construct

    from strongref_cdk.construct_kinds import ConstructKind
    from strongref_objects.channels import Channel

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ConstructFunctions(Generic[T]):
    """The functions of one ready type."""

    kind: ConstructKind[T]

    def export(
        self,
        construct: T,
        name: str,
        *,
        via: Channel | None = None,
        description: str | None = None,
        **parts: Any,  # noqa: ANN401 (constructs and values)
    ) -> None:
        """Export a construct with all its parts from its stack.

        Args:
            construct: the construct; a nested stack's constructs are exported by the stack that it is nested in.
            name: other stacks import it by this name.
            via: the channel: `CrossRegion(…)` or `Parameters(…)`; CloudFormation's exports by default.
            description: for people.
            **parts: one of several parts, as in `listener=…` of a load balancer; members that the construct lacks.

        Raises:
            ConstructError: the name stands for something else, or the construct lacks a member.
        """
        with at(construct):
            obj = self.kind.serializable(construct, **parts)
            with exporting(construct, name, via) as stack:
                stack.export_object(name, obj, description=description, via=via)

    def import_(
        self,
        scope: Construct,
        name: str,
        *,
        type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
        weak: bool = False,
        via: Channel | None = None,
        **options: Any,  # noqa: ANN401 (the CDK's)
    ) -> T:
        """The construct of an object that another stack exports, of this app or any other: the same each time.

        Args:
            scope: a construct in the importing stack.
            name: of the export.
            type: `SYNTHESIS`: its values are looked up now; `DEPLOYMENT`: they are tokens.
            weak: whether it may be changed and deleted while this stack uses it.
            via: as for the export: `CrossRegion(stack=…, region=…)`, `Parameters(…)`; CloudFormation's exports by
                default.
            **options: of the CDK's own function for imported constructs of the type, as in `mutable=False` of a role.

        Raises:
            ConstructError: there is no export of that name, or it cannot be imported this way.
        """
        with at(scope), importing(scope, name, via, weak=weak) as found:
            ctx = found.stack.import_object(found.name, type=type, weak=weak, via=via)
            return self.kind.imported(ctx, ConstructPlace.of_import(ctx, via), options)

    def from_arn(self, scope: Construct, arn: str, **more: Any) -> T:  # noqa: ANN401 (constructs, values, the CDK's options)
        """The construct of an existing resource, by its ARN: the same each time. Nothing holds it.

        Args:
            scope: a construct in the stack that uses it.
            arn: its ARN, or a token.
            **more: members that do not follow from its ARN; or options, as in `import_…`.

        Raises:
            ConstructError: it is not such an ARN, or a member is missing.
        """
        with at(scope):
            stack, of = stack_of(scope), self.kind.declared
            parts, options = members_and_options(of, more)
            obj = of.from_arn(arn, scope=stack, **parts)
            return self.kind.referenced(
                stack, obj, ConstructPlace.of_name(f"from{of.__name__}Arn", arn, stack), options
            )

    def from_name(
        self,
        scope: Construct,
        name: str,
        *,
        region: str | None = None,
        account: str | None = None,
        **more: Any,  # noqa: ANN401 (as above)
    ) -> T:
        """The construct of an existing resource, by its name or ID: the same each time. Nothing holds it.

        Args:
            scope: a construct in the stack that uses it.
            name: the end of its ARN, or a token.
            region: its region; the stack's own by default.
            account: its account; the stack's own by default.
            **more: members that do not follow from its name; or options, as in `import_…`.

        Raises:
            ConstructError: the name is not valid, or a member is missing.
        """
        with at(scope):
            stack, of = stack_of(scope), self.kind.declared
            parts, options = members_and_options(of, more)
            obj = of.from_name(name, region=region, account=account, scope=stack, **parts)
            place = ConstructPlace.of_name(f"from{of.__name__}Name", name, stack).located(stack, region, account)
            return self.kind.referenced(stack, obj, place, options)

    def lookup(self, scope: Construct, tags: Mapping[str, str], **more: Any) -> T:  # noqa: ANN401 (as above)
        """The construct of the only resource that has all of these tags, in the stack's account and region.

        The context file keeps it. Nothing holds it.

        Args:
            scope: a construct in the stack that uses it.
            tags: all of them must match.
            **more: members that cannot be looked up; or options, as in `import_…`.

        Raises:
            ConstructError: there is no such resource, or several.
        """
        construct: T = sharing.lookup(scope, self.kind.declared, tags, **more)
        return construct


_bucket: ConstructFunctions[s3.IBucket] = ConstructFunctions(ready.BUCKET)
export_bucket = _bucket.export
import_bucket = _bucket.import_
bucket_from_arn = _bucket.from_arn
bucket_from_name = _bucket.from_name
lookup_bucket = _bucket.lookup

_encrypted_bucket: ConstructFunctions[s3.IBucket] = ConstructFunctions(ready.ENCRYPTED_BUCKET)
import_encrypted_bucket = _encrypted_bucket.import_

_queue: ConstructFunctions[sqs.IQueue] = ConstructFunctions(ready.QUEUE)
export_queue = _queue.export
import_queue = _queue.import_
queue_from_arn = _queue.from_arn
queue_from_name = _queue.from_name
lookup_queue = _queue.lookup

_encrypted_queue: ConstructFunctions[sqs.IQueue] = ConstructFunctions(ready.ENCRYPTED_QUEUE)
import_encrypted_queue = _encrypted_queue.import_

_topic: ConstructFunctions[sns.ITopic] = ConstructFunctions(ready.TOPIC)
export_topic = _topic.export
import_topic = _topic.import_
topic_from_arn = _topic.from_arn
topic_from_name = _topic.from_name
lookup_topic = _topic.lookup

_encrypted_topic: ConstructFunctions[sns.ITopic] = ConstructFunctions(ready.ENCRYPTED_TOPIC)
import_encrypted_topic = _encrypted_topic.import_

_key: ConstructFunctions[kms.IKey] = ConstructFunctions(ready.KEY)
export_key = _key.export
import_key = _key.import_
key_from_arn = _key.from_arn
key_from_id = _key.from_name
lookup_key = _key.lookup

_role: ConstructFunctions[iam.IRole] = ConstructFunctions(ready.ROLE)
export_role = _role.export
import_role = _role.import_
role_from_arn = _role.from_arn
role_from_name = _role.from_name

_certificate: ConstructFunctions[acm.ICertificate] = ConstructFunctions(ready.CERTIFICATE)
export_certificate = _certificate.export
import_certificate = _certificate.import_
certificate_from_arn = _certificate.from_arn
lookup_certificate = _certificate.lookup

_hosted_zone: ConstructFunctions[route53.IHostedZone] = ConstructFunctions(ready.HOSTED_ZONE)
export_hosted_zone = _hosted_zone.export
import_hosted_zone = _hosted_zone.import_
hosted_zone_from_id = _hosted_zone.from_name
lookup_hosted_zone = _hosted_zone.lookup

_vpc: ConstructFunctions[ec2.IVpc] = ConstructFunctions(ready.VPC)
export_vpc = _vpc.export
import_vpc = _vpc.import_
lookup_vpc = _vpc.lookup

_security_group: ConstructFunctions[ec2.ISecurityGroup] = ConstructFunctions(ready.SECURITY_GROUP)
export_security_group = _security_group.export
import_security_group = _security_group.import_
security_group_from_id = _security_group.from_name
lookup_security_group = _security_group.lookup

_application_load_balancer: ConstructFunctions[elbv2.IApplicationLoadBalancer] = ConstructFunctions(
    ready.APPLICATION_LOAD_BALANCER
)
export_application_load_balancer = _application_load_balancer.export
import_application_load_balancer = _application_load_balancer.import_
application_load_balancer_from_arn = _application_load_balancer.from_arn
lookup_application_load_balancer = _application_load_balancer.lookup

_listener: ConstructFunctions[elbv2.IApplicationListener] = ConstructFunctions(ready.LISTENER)
export_listener = _listener.export
import_listener = _listener.import_
listener_from_arn = _listener.from_arn
lookup_listener = _listener.lookup

_cluster: ConstructFunctions[ecs.ICluster] = ConstructFunctions(ready.CLUSTER)
export_cluster = _cluster.export
import_cluster = _cluster.import_
cluster_from_arn = _cluster.from_arn
cluster_from_name = _cluster.from_name
lookup_cluster = _cluster.lookup

_table: ConstructFunctions[dynamodb.ITable] = ConstructFunctions(ready.TABLE)
export_table = _table.export
import_table = _table.import_
table_from_arn = _table.from_arn
table_from_name = _table.from_name
lookup_table = _table.lookup

_encrypted_table: ConstructFunctions[dynamodb.ITable] = ConstructFunctions(ready.ENCRYPTED_TABLE)
import_encrypted_table = _encrypted_table.import_

_streamed_table: ConstructFunctions[dynamodb.ITable] = ConstructFunctions(ready.STREAMED_TABLE)
import_streamed_table = _streamed_table.import_

_function: ConstructFunctions[lambda_.IFunction] = ConstructFunctions(ready.FUNCTION)
export_function = _function.export
import_function = _function.import_
function_from_arn = _function.from_arn
function_from_name = _function.from_name
lookup_function = _function.lookup

_function_with_role: ConstructFunctions[lambda_.IFunction] = ConstructFunctions(ready.FUNCTION_WITH_ROLE)
import_function_with_role = _function_with_role.import_

_function_in_vpc: ConstructFunctions[lambda_.IFunction] = ConstructFunctions(ready.FUNCTION_IN_VPC)
import_function_in_vpc = _function_in_vpc.import_


def listener_of(load_balancer: elbv2.IApplicationLoadBalancer) -> elbv2.IApplicationListener:
    """The listener of an imported load balancer: the same each time.

    Raises:
        ConstructError: the load balancer was not imported.
    """
    with at(load_balancer):
        found = ready.LISTENERS.get(reference(load_balancer))
        if found is None:
            raise NoListenerError
        return found
