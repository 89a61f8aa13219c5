"""Whole constructs of `aws_cdk` apps, exported and imported: `pip install 'strongref[cdk]'`.

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
    from strongref_cdk import ready, sharing, vpc
    from strongref_cdk.errors import CdkError as CdkError
    from strongref_cdk.errors import ConstructError as ConstructError
    from strongref_cdk.ready import listener_of as listener_of
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

export_bucket = ready.BUCKET.export
import_bucket = ready.BUCKET.import_
bucket_from_arn = ready.BUCKET.from_arn
bucket_from_name = ready.BUCKET.from_name
lookup_bucket = ready.BUCKET.lookup
import_encrypted_bucket = ready.ENCRYPTED_BUCKET.import_

export_queue = ready.QUEUE.export
import_queue = ready.QUEUE.import_
queue_from_arn = ready.QUEUE.from_arn
queue_from_name = ready.QUEUE.from_name
lookup_queue = ready.QUEUE.lookup
import_encrypted_queue = ready.ENCRYPTED_QUEUE.import_

export_topic = ready.TOPIC.export
import_topic = ready.TOPIC.import_
topic_from_arn = ready.TOPIC.from_arn
topic_from_name = ready.TOPIC.from_name
lookup_topic = ready.TOPIC.lookup
import_encrypted_topic = ready.ENCRYPTED_TOPIC.import_

export_key = ready.KEY.export
import_key = ready.KEY.import_
key_from_arn = ready.KEY.from_arn
key_from_id = ready.KEY.from_name
lookup_key = ready.KEY.lookup

export_role = ready.ROLE.export
import_role = ready.ROLE.import_
role_from_arn = ready.ROLE.from_arn
role_from_name = ready.ROLE.from_name

export_certificate = ready.CERTIFICATE.export
import_certificate = ready.CERTIFICATE.import_
certificate_from_arn = ready.CERTIFICATE.from_arn
lookup_certificate = ready.CERTIFICATE.lookup

export_hosted_zone = ready.HOSTED_ZONE.export
import_hosted_zone = ready.HOSTED_ZONE.import_
hosted_zone_from_id = ready.HOSTED_ZONE.from_name
lookup_hosted_zone = ready.HOSTED_ZONE.lookup

export_vpc = vpc.VPC.export
import_vpc = vpc.VPC.import_
lookup_vpc = vpc.VPC.lookup

export_security_group = ready.SECURITY_GROUP.export
import_security_group = ready.SECURITY_GROUP.import_
security_group_from_id = ready.SECURITY_GROUP.from_name
lookup_security_group = ready.SECURITY_GROUP.lookup

export_application_load_balancer = ready.APPLICATION_LOAD_BALANCER.export
import_application_load_balancer = ready.APPLICATION_LOAD_BALANCER.import_
application_load_balancer_from_arn = ready.APPLICATION_LOAD_BALANCER.from_arn
lookup_application_load_balancer = ready.APPLICATION_LOAD_BALANCER.lookup

export_listener = ready.LISTENER.export
import_listener = ready.LISTENER.import_
listener_from_arn = ready.LISTENER.from_arn
lookup_listener = ready.LISTENER.lookup

export_cluster = ready.CLUSTER.export
import_cluster = ready.CLUSTER.import_
cluster_from_arn = ready.CLUSTER.from_arn
cluster_from_name = ready.CLUSTER.from_name
lookup_cluster = ready.CLUSTER.lookup

export_table = ready.TABLE.export
import_table = ready.TABLE.import_
table_from_arn = ready.TABLE.from_arn
table_from_name = ready.TABLE.from_name
lookup_table = ready.TABLE.lookup
import_encrypted_table = ready.ENCRYPTED_TABLE.import_
import_streamed_table = ready.STREAMED_TABLE.import_

export_function = ready.FUNCTION.export
import_function = ready.FUNCTION.import_
function_from_arn = ready.FUNCTION.from_arn
function_from_name = ready.FUNCTION.from_name
lookup_function = ready.FUNCTION.lookup
import_function_with_role = ready.FUNCTION_WITH_ROLE.import_
import_function_in_vpc = ready.FUNCTION_IN_VPC.import_
