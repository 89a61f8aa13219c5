"""A bucket of the AWS CDK, and a job in Kubernetes that is told its name."""

import os

import aws_cdk as aws
import cdk8s as k8s
import cdk8s_plus_31 as kplus
from aws_cdk import aws_s3 as s3

from strongref_cdk8s import AwsCdkResolver

aws_app = aws.App()
stack = aws.Stack(aws_app, "aws")

k8s_app = k8s.App(resolvers=[AwsCdkResolver()])
manifest = k8s.Chart(k8s_app, "Manifest")

bucket = s3.Bucket(stack, "Bucket")
bucket_name = aws.CfnOutput(stack, "BucketName", value=bucket.bucket_name)

job = kplus.ContainerProps(image="job", env_variables={"BUCKET_NAME": kplus.EnvValue.from_value(bucket_name.value)})
kplus.CronJob(manifest, "CronJob", schedule=k8s.Cron.daily(), containers=[job])

aws_app.synth()
if "CDK_OUTDIR" not in os.environ:  # `cdk deploy` runs this program too, before there is a bucket.
    k8s_app.synth()
