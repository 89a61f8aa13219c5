"""Whole constructs of `aws_cdk` apps, exported and imported. Needs the extra `cdk`.

    export_bucket(bucket, "JohnnyBucket")
    bucket = import_bucket(stack, "JohnnyBucket")

Every ready type has such functions; `export_object` and `import_object` are for a program's own types.

Public are the names here. The modules may change and move at any time.
"""

from strongref_objects.base import ResolveType as ResolveType
from strongref_objects.base import Serializable as Serializable
from strongref_objects.base import SerializationContext as SerializationContext
from strongref_objects.channels import CloudFormation as CloudFormation
from strongref_objects.channels import CrossRegion as CrossRegion
from strongref_objects.channels import Parameters as Parameters
from strongref_toolkit import extras

try:
    from strongref_cdk import aws_constructs, sharing, vpc
    from strongref_cdk.aws_constructs import listener_of as listener_of
    from strongref_cdk.errors import CdkError as CdkError
    from strongref_cdk.errors import ConstructError as ConstructError
    from strongref_cdk.target import CdkTarget as CdkTarget
except ModuleNotFoundError as error:
    problem = extras.missing_dependency(__name__, error, "cdk")
    if problem is None:
        raise
    raise ImportError(problem, name=error.name) from None

DeserializationContext = sharing.ConstructContext
deserialize = sharing.deserialize
export_object = sharing.export_object
export_string = sharing.export_string
export_string_list = sharing.export_string_list
import_object = sharing.import_object
import_string = sharing.import_string
import_string_list = sharing.import_string_list
lookup = sharing.lookup
object_of = sharing.object_of
variables = sharing.variables

export_bucket = aws_constructs.BUCKET.export
import_bucket = aws_constructs.BUCKET.import_
bucket_from_arn = aws_constructs.BUCKET.from_arn
bucket_from_name = aws_constructs.BUCKET.from_name
lookup_bucket = aws_constructs.BUCKET.lookup
import_encrypted_bucket = aws_constructs.ENCRYPTED_BUCKET.import_

export_queue = aws_constructs.QUEUE.export
import_queue = aws_constructs.QUEUE.import_
queue_from_arn = aws_constructs.QUEUE.from_arn
queue_from_name = aws_constructs.QUEUE.from_name
lookup_queue = aws_constructs.QUEUE.lookup
import_encrypted_queue = aws_constructs.ENCRYPTED_QUEUE.import_

export_topic = aws_constructs.TOPIC.export
import_topic = aws_constructs.TOPIC.import_
topic_from_arn = aws_constructs.TOPIC.from_arn
topic_from_name = aws_constructs.TOPIC.from_name
lookup_topic = aws_constructs.TOPIC.lookup
import_encrypted_topic = aws_constructs.ENCRYPTED_TOPIC.import_

export_secret = aws_constructs.SECRET.export
import_secret = aws_constructs.SECRET.import_
secret_from_arn = aws_constructs.SECRET.from_arn
lookup_secret = aws_constructs.SECRET.lookup

export_key = aws_constructs.KEY.export
import_key = aws_constructs.KEY.import_
key_from_arn = aws_constructs.KEY.from_arn
key_from_id = aws_constructs.KEY.from_name
lookup_key = aws_constructs.KEY.lookup

export_role = aws_constructs.ROLE.export
import_role = aws_constructs.ROLE.import_
role_from_arn = aws_constructs.ROLE.from_arn
role_from_name = aws_constructs.ROLE.from_name

export_certificate = aws_constructs.CERTIFICATE.export
import_certificate = aws_constructs.CERTIFICATE.import_
certificate_from_arn = aws_constructs.CERTIFICATE.from_arn
lookup_certificate = aws_constructs.CERTIFICATE.lookup

export_hosted_zone = aws_constructs.HOSTED_ZONE.export
import_hosted_zone = aws_constructs.HOSTED_ZONE.import_
hosted_zone_from_id = aws_constructs.HOSTED_ZONE.from_name
lookup_hosted_zone = aws_constructs.HOSTED_ZONE.lookup

export_vpc = vpc.VPC.export
import_vpc = vpc.VPC.import_
lookup_vpc = vpc.VPC.lookup

export_security_group = aws_constructs.SECURITY_GROUP.export
import_security_group = aws_constructs.SECURITY_GROUP.import_
security_group_from_id = aws_constructs.SECURITY_GROUP.from_name
lookup_security_group = aws_constructs.SECURITY_GROUP.lookup

export_application_load_balancer = aws_constructs.APPLICATION_LOAD_BALANCER.export
import_application_load_balancer = aws_constructs.APPLICATION_LOAD_BALANCER.import_
application_load_balancer_from_arn = aws_constructs.APPLICATION_LOAD_BALANCER.from_arn
lookup_application_load_balancer = aws_constructs.APPLICATION_LOAD_BALANCER.lookup

export_listener = aws_constructs.LISTENER.export
import_listener = aws_constructs.LISTENER.import_
listener_from_arn = aws_constructs.LISTENER.from_arn
lookup_listener = aws_constructs.LISTENER.lookup

export_cluster = aws_constructs.CLUSTER.export
import_cluster = aws_constructs.CLUSTER.import_
cluster_from_arn = aws_constructs.CLUSTER.from_arn
cluster_from_name = aws_constructs.CLUSTER.from_name
lookup_cluster = aws_constructs.CLUSTER.lookup

export_eks_cluster = aws_constructs.EKS_CLUSTER.export
import_eks_cluster = aws_constructs.EKS_CLUSTER.import_
lookup_eks_cluster = aws_constructs.EKS_CLUSTER.lookup

export_table = aws_constructs.TABLE.export
import_table = aws_constructs.TABLE.import_
table_from_arn = aws_constructs.TABLE.from_arn
table_from_name = aws_constructs.TABLE.from_name
lookup_table = aws_constructs.TABLE.lookup
import_encrypted_table = aws_constructs.ENCRYPTED_TABLE.import_
import_streamed_table = aws_constructs.STREAMED_TABLE.import_

export_function = aws_constructs.FUNCTION.export
import_function = aws_constructs.FUNCTION.import_
function_from_arn = aws_constructs.FUNCTION.from_arn
function_from_name = aws_constructs.FUNCTION.from_name
lookup_function = aws_constructs.FUNCTION.lookup
import_function_with_role = aws_constructs.FUNCTION_WITH_ROLE.import_
import_function_in_vpc = aws_constructs.FUNCTION_IN_VPC.import_
