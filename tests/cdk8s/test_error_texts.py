"""The texts of errors of the resolvers for cdk8s and of Terraform's states."""

from __future__ import annotations

import pytest

from tests.support.cdk8s_errors import CASES

TEXTS = {
    "cdk-unresolved": (
        "2 values could not be resolved:\n"
        "  Manifest/CronJob/Resource, spec.schedule: Unable to find output defined for token: "
        '{"Ref":"Bucket83908E77"}. Make sure you defined a CfnOutput for this value.\n'
        "  Manifest/Config, data.url: The environment variable DOMAIN is not set. Set it, or remove the "
        "token."
    ),
    "cdk-no-output": (
        'Unable to find output defined for token: {"Fn::GetAtt":["Bucket4A7E3555","BucketName"]}. Make sure '
        "you defined a CfnOutput for this value."
    ),
    "cdk-several-stacks": (
        '{"Ref":"AWS::Region"} may belong to Eu and Us, and has another value in each. Use a token that '
        "refers to a resource of one of these stacks."
    ),
    "cdk-app": (
        'Unable to find output defined for token: {"Ref":"AWS::Region"}. Make sure you defined a CfnOutput '
        "for this value. It refers to no resource of an app: also give AwsCdkResolver(app=…)."
    ),
    "cdk-no-number": (
        '-1.888154589708762e+289 must be a number, but the value of {"Ref":"PortNumber"} is not one, or is '
        "too large to be exact. Correct the value, or use the token as text."
    ),
    "cdk-select": ("The index of Fn::Select must be at least 0 and less than 2, got 2. Correct the index."),
    "cdk-unreadable": (
        "${Token[TOKEN.99]} cannot be read: Unrecognized token key: TOKEN.99. Check how the program creates the token."
    ),
    "cdk-construct": (
        "The construct aws/Bucket is not a value. Use one of its attributes, such as its name or its ARN."
    ),
    "cdk-patch": (
        "${Token[TOKEN.21]} is in a place that cdk8s does not resolve, such as a JSON patch. Set that value "
        "on the object itself."
    ),
    "cdk-dynamic": (
        "{{resolve:secretsmanager:db:SecretString:password::}} is a dynamic reference of CloudFormation, "
        "which no resolver of this app resolves. Let the cluster read it itself, or write ${secret:…} or "
        "${ssm:…} for TokenResolver('secret', 'ssm', sensitive=True)."
    ),
    "cdk-left": (
        "${TfToken[TOKEN.7]} is a token of the CDK for Terraform, which no resolver of this app resolves. "
        "Give cdk8s.App the resolver for it, AwsCdkResolver or CdkTfResolver."
    ),
    "cdk-number-in-text": (
        "-1.8881545897087552e+289 is a token of the CDK, which no resolver of this app resolves. Use it as "
        "the whole value, or turn it into text with Token.as_string before adding other text."
    ),
    "cdk-stack": (
        "${aws_s3_bucket.Bucket.bucket} belongs to a stack prod that CdkTfResolver was not given. Give one "
        "CdkTfResolver all stacks that the app has tokens of."
    ),
    "cdk-one-state": (
        "One state is given for the stacks dev and prod, but each has its own. Give state={'STACK': 'FILE', "
        "…}, or leave state out to use their backends."
    ),
    "cdk-no-reference": (
        '${join(",", aws_subnet.a.ids)} is not a reference to an attribute of a given stack, and only '
        "Terraform can evaluate it. Make it the value of a TerraformOutput of that stack, and give the stack "
        "to CdkTfResolver."
    ),
    "cdk-backend": (
        "The state of stack aws is in a backend of kind remote, which strongref cannot read. Give a file with"
        " the output of terraform show -json: state='FILE'."
    ),
    "cdk-no-state": ("CdkTfResolver needs the stacks that the app has tokens of, or state='FILE'. Give one of them."),
    "cdk-scheme": ("A scheme must be export, ssm, secret or env, got sms. For tf give tf=['STATE']."),
    "terraform-sensitive": (
        "aws_db_instance.main.password is not given out: it is sensitive in Terraform. Give --allow with this"
        " address to write it in plain text, or let the cluster read it itself."
    ),
    "terraform-sensitive-guess": (
        "aws_ssm_parameter.url.value is not given out: it has the name of a secret, which is only a guess. "
        "Give --allow with this address to write it in plain text, or let the cluster read it itself."
    ),
    "terraform-sensitive-part": (
        "aws_lambda_function.api.environment is not given out: [0].variables.API_KEY in it is sensitive in "
        "Terraform. Give --allow with this address to write it in plain text, or let the cluster read it "
        "itself."
    ),
    "terraform-no-address": (
        "There is no output.buckett in the Terraform state site.tfstate. Did you mean output.bucket or "
        "output.subnet_ids? Check the address, and that it is applied."
    ),
    "terraform-instances": (
        "aws_s3_bucket.logs is no single resource in site.tfstate. Write one of aws_s3_bucket.logs[0] and "
        "aws_s3_bucket.logs[1]."
    ),
    "terraform-no-attribute": "aws_s3_bucket.site has no .arm. It has arn.",
    "terraform-null": ("aws_s3_bucket.site.acl is null in the Terraform state. Set it there, or remove the reference."),
    "terraform-address": (
        "module.network.vpc_id is no address of a value in a Terraform state: it may be a module's output, "
        "which no state holds; make it an output of the root module. It should look like output.NAME or "
        "module.NAME.TYPE.NAME[KEY].ATTRIBUTE."
    ),
    "terraform-twice": ("Two Terraform states have no name. Give all but one a name of its own: --tf NAME=STATE."),
    "terraform-no-such-state": (
        "No Terraform state named network is given. There is one without a name. Give --tf network=STATE."
    ),
    "terraform-unread": (
        "The Terraform state s3://states/site.tfstate cannot be read: there is no such object in the bucket; "
        "a workspace's is at env:/WORKSPACE/KEY."
    ),
    "terraform-version": (
        "old.tfstate is no Terraform state: it is a state file of version 3, and Terraform 0.12 or later "
        "rewrites it with terraform apply. Give a state file of version 4, or what terraform show -json "
        "prints."
    ),
    "terraform-encrypted": (
        "site.tfstate is no Terraform state: OpenTofu has encrypted it, and tofu show -json decrypts it. Give"
        " a state file of version 4, or what terraform show -json prints."
    ),
}


def test_every_case_has_a_text() -> None:
    assert set(TEXTS) == set(CASES)


@pytest.mark.parametrize("name", TEXTS)
def test_an_error_says_what_is_wrong_and_what_to_do(name: str) -> None:
    assert str(CASES[name]()) == TEXTS[name]
