"""What can be done with a construct of each ready type: functions, with the types that editors show.

They are the methods of one class, for each type by its own name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from strongref_cdk import ready, sharing
from strongref_cdk.apps import at, exporting, importing, stack_of
from strongref_cdk.errors import NoListenerError
from strongref_cdk.same import reference
from strongref_objects.base import ResolveType

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

    from strongref_cdk.kinds import Kind
    from strongref_objects.channels import Channel

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Functions(Generic[T]):
    """The functions of one ready type."""

    kind: Kind[T]

    def export(
        self,
        construct: T,
        name: str,
        *,
        via: Channel | None = None,
        description: str | None = None,
        **parts: Any,  # noqa: ANN401 (constructs and values)
    ) -> None:
        """Export a construct, whole, from the stack that it is in.

        Args:
            construct: it. In a nested stack, the stack that this one is nested in exports it.
            name: what others import it by.
            via: how: `CrossRegion(…)` or `Parameters(…)`; CloudFormation's exports by default.
            description: for people.
            **parts: which of several it is, as in `listener=…` of a load balancer; what the construct does not tell.

        Raises:
            ConstructError: the name stands for something else already, or the construct does not tell what is needed.
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
        """The construct of what another stack exports, of this app or of any other: the same each time.

        Args:
            scope: a construct in the stack that imports it.
            name: what it is exported by.
            type: `SYNTHESIS`: its values are looked up now; `DEPLOYMENT`: they are tokens.
            weak: whether it may be changed and dropped while this stack uses it.
            via: as it was exported: `CrossRegion(stack=…, region=…)`, `Parameters(…)`; CloudFormation's exports by
                default.
            **options: of the CDK's own function for imported constructs of the type, as in `mutable=False` of a role.

        Raises:
            ConstructError: there is none of that name, or it cannot be imported so.
        """
        with at(scope), importing(scope, name, via, weak=weak) as found:
            ctx = found.stack.import_object(found.name, type=type, weak=weak, via=via)
            construct: T = sharing.read_construct(self.kind, ctx, sharing.place_of(ctx, via), options)
            return construct

    def from_arn(self, scope: Construct, arn: str, **more: Any) -> T:  # noqa: ANN401 (constructs, values, the CDK's options)
        """The construct of a resource that is there already, by its ARN: the same each time. Nothing holds it.

        Args:
            scope: a construct in the stack that uses it.
            arn: its ARN, or a token.
            **more: what its ARN does not tell; or options, as in `import_…`.

        Raises:
            ConstructError: it is no such ARN, or does not tell enough.
        """
        with at(scope):
            stack, of = stack_of(scope), self.kind.declared
            parts, options = sharing.divided(of, more)
            obj = of.from_arn(arn, scope=stack, **parts)
            place = sharing.named(f"from{of.__name__}Arn", arn, stack)
            construct: T = sharing.construct_named(self.kind, stack, obj, place, options)
            return construct

    def from_name(
        self,
        scope: Construct,
        name: str,
        *,
        region: str | None = None,
        account: str | None = None,
        **more: Any,  # noqa: ANN401 (as above)
    ) -> T:
        """The construct of a resource that is there already, by its name or id: the same each time. Nothing holds it.

        Args:
            scope: a construct in the stack that uses it.
            name: what stands at the end of its ARN, or a token.
            region: that it is in; the stack's own by default.
            account: whose it is; the stack's own by default.
            **more: what its name does not tell; or options, as in `import_…`.

        Raises:
            ConstructError: nothing can be called so, or it does not tell enough.
        """
        with at(scope):
            stack, of = stack_of(scope), self.kind.declared
            parts, options = sharing.divided(of, more)
            obj = of.from_name(name, region=region, account=account, scope=stack, **parts)
            place = sharing.named(f"from{of.__name__}Name", name, stack)
            place = place._replace(region=region, account=account, is_here=not (region or account))
            construct: T = sharing.construct_named(self.kind, stack, obj, place, options)
            return construct

    def lookup(self, scope: Construct, tags: Mapping[str, str], **more: Any) -> T:  # noqa: ANN401 (as above)
        """The construct of the only resource that has all of these tags, in the stack's account and region.

        It is looked up once, and kept in the context file. Nothing holds it.

        Args:
            scope: a construct in the stack that uses it.
            tags: that it has.
            **more: what cannot be looked up of it; or options, as in `import_…`.

        Raises:
            ConstructError: there is none, or several.
        """
        construct: T = sharing.lookup(scope, self.kind.declared, tags, **more)
        return construct


_bucket: Functions[s3.IBucket] = Functions(ready.BUCKET)
export_bucket = _bucket.export
import_bucket = _bucket.import_
bucket_from_arn = _bucket.from_arn
bucket_from_name = _bucket.from_name
lookup_bucket = _bucket.lookup

_encrypted_bucket: Functions[s3.IBucket] = Functions(ready.ENCRYPTED_BUCKET)
import_encrypted_bucket = _encrypted_bucket.import_

_queue: Functions[sqs.IQueue] = Functions(ready.QUEUE)
export_queue = _queue.export
import_queue = _queue.import_
queue_from_arn = _queue.from_arn
queue_from_name = _queue.from_name
lookup_queue = _queue.lookup

_encrypted_queue: Functions[sqs.IQueue] = Functions(ready.ENCRYPTED_QUEUE)
import_encrypted_queue = _encrypted_queue.import_

_topic: Functions[sns.ITopic] = Functions(ready.TOPIC)
export_topic = _topic.export
import_topic = _topic.import_
topic_from_arn = _topic.from_arn
topic_from_name = _topic.from_name
lookup_topic = _topic.lookup

_encrypted_topic: Functions[sns.ITopic] = Functions(ready.ENCRYPTED_TOPIC)
import_encrypted_topic = _encrypted_topic.import_

_key: Functions[kms.IKey] = Functions(ready.KEY)
export_key = _key.export
import_key = _key.import_
key_from_arn = _key.from_arn
key_from_id = _key.from_name
lookup_key = _key.lookup

_role: Functions[iam.IRole] = Functions(ready.ROLE)
export_role = _role.export
import_role = _role.import_
role_from_arn = _role.from_arn
role_from_name = _role.from_name

_certificate: Functions[acm.ICertificate] = Functions(ready.CERTIFICATE)
export_certificate = _certificate.export
import_certificate = _certificate.import_
certificate_from_arn = _certificate.from_arn
lookup_certificate = _certificate.lookup

_hosted_zone: Functions[route53.IHostedZone] = Functions(ready.HOSTED_ZONE)
export_hosted_zone = _hosted_zone.export
import_hosted_zone = _hosted_zone.import_
hosted_zone_from_id = _hosted_zone.from_name
lookup_hosted_zone = _hosted_zone.lookup

_vpc: Functions[ec2.IVpc] = Functions(ready.VPC)
export_vpc = _vpc.export
import_vpc = _vpc.import_
lookup_vpc = _vpc.lookup

_security_group: Functions[ec2.ISecurityGroup] = Functions(ready.SECURITY_GROUP)
export_security_group = _security_group.export
import_security_group = _security_group.import_
security_group_from_id = _security_group.from_name
lookup_security_group = _security_group.lookup

_application_load_balancer: Functions[elbv2.IApplicationLoadBalancer] = Functions(ready.APPLICATION_LOAD_BALANCER)
export_application_load_balancer = _application_load_balancer.export
import_application_load_balancer = _application_load_balancer.import_
application_load_balancer_from_arn = _application_load_balancer.from_arn
lookup_application_load_balancer = _application_load_balancer.lookup

_listener: Functions[elbv2.IApplicationListener] = Functions(ready.LISTENER)
export_listener = _listener.export
import_listener = _listener.import_
listener_from_arn = _listener.from_arn
lookup_listener = _listener.lookup

_cluster: Functions[ecs.ICluster] = Functions(ready.CLUSTER)
export_cluster = _cluster.export
import_cluster = _cluster.import_
cluster_from_arn = _cluster.from_arn
cluster_from_name = _cluster.from_name
lookup_cluster = _cluster.lookup

_table: Functions[dynamodb.ITable] = Functions(ready.TABLE)
export_table = _table.export
import_table = _table.import_
table_from_arn = _table.from_arn
table_from_name = _table.from_name
lookup_table = _table.lookup

_encrypted_table: Functions[dynamodb.ITable] = Functions(ready.ENCRYPTED_TABLE)
import_encrypted_table = _encrypted_table.import_

_streamed_table: Functions[dynamodb.ITable] = Functions(ready.STREAMED_TABLE)
import_streamed_table = _streamed_table.import_

_function: Functions[lambda_.IFunction] = Functions(ready.FUNCTION)
export_function = _function.export
import_function = _function.import_
function_from_arn = _function.from_arn
function_from_name = _function.from_name
lookup_function = _function.lookup


def listener_of(load_balancer: elbv2.IApplicationLoadBalancer) -> elbv2.IApplicationListener:
    """The listener of a load balancer that was imported: the same each time.

    Raises:
        ConstructError: the load balancer was not imported.
    """
    with at(load_balancer):
        found = ready.LISTENERS.get(reference(load_balancer))
        if found is None:
            raise NoListenerError
        return found
