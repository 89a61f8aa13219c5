"""A bucket of the CDK for Terraform, and a job in Kubernetes that is told its name."""

import os

import cdk8s as k8s
import cdk8s_plus_31 as kplus
import cdktf as tf

from strongref_cdk8s import CdkTfResolver

aws_app = tf.App()
stack = tf.TerraformStack(aws_app, "aws")

k8s_app = k8s.App(resolvers=[CdkTfResolver(stack)])
manifest = k8s.Chart(k8s_app, "Manifest")

# With the provider's own classes: bucket = S3Bucket(stack, "Bucket"), and below bucket.bucket.
bucket = tf.TerraformResource(stack, "Bucket", terraform_resource_type="aws_s3_bucket")
bucket_name = bucket.get_string_attribute("bucket")

job = kplus.ContainerProps(image="job", env_variables={"BUCKET_NAME": kplus.EnvValue.from_value(bucket_name)})
kplus.CronJob(manifest, "CronJob", schedule=k8s.Cron.daily(), containers=[job])

aws_app.synth()
if "CDKTF_OUTDIR" not in os.environ:  # `cdktf deploy` runs this program too, before there is a bucket.
    k8s_app.synth()
