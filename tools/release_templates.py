"""A release's templates for StackSets and the application repository, made from the installation's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from strongref_cli.install.suite import Suite

_EXPAND = Path(__file__).with_name("release_expansion.py")
"""Runs in the SAM CLI's environment, which has the code that expands templates."""

_LABELS = ("cloudformation", "custom-resource", "cross-region", "exports")


def stack_set(suite: Suite) -> bytes:
    """The template for StackSets, as JSON.

    StackSets' own execution role cannot expand transforms (AWS: StackSets User Guide, custom execution role), so the
    template is expanded already. Lambda takes code from a bucket of its region only, so the template names one by
    region: the parameter `BucketPrefix` and the region's name.
    """
    python = Path(os.environ["STRONGREF_SAM"]).with_name("python")
    if not python.is_file():
        sys.exit(f"make release: the SAM CLI's environment has no {python}. Run make setup.")
    done = subprocess.run(  # noqa: S603
        [str(python), str(_EXPAND)],
        input=suite.template_for("s3://strongref/{}".format),
        env={**os.environ, "AWS_DEFAULT_REGION": "us-east-1"},  # the translator asks boto3 for one
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"make release: the template for StackSets could not be made:\n{done.stderr}")
    return done.stdout.encode()


def serverless_repository(template: str, version: str, url: str) -> str:
    """The packaged template with what the Serverless Application Repository shows.

    AWS: SAM Developer Guide, template Metadata section properties. Files are local: `sam package` uploads them.
    """
    about = {
        "Name": "strongref",
        "Description": "Strong references between CloudFormation stacks, across regions and accounts",
        "Author": "strongref",
        "SpdxLicenseId": "Apache-2.0",
        "LicenseUrl": "LICENSE",
        "ReadmeUrl": "README.md",
        "Labels": f"[{', '.join(_LABELS)}]",
        "SemanticVersion": version,
    }
    if url:
        about |= {"HomePageUrl": url, "SourceCodeUrl": url}
    lines = "".join(f"    {name}: {value}\n" for name, value in about.items())
    return template.replace(
        "\nParameters:\n", f"\nMetadata:\n  AWS::ServerlessRepo::Application:\n{lines}\nParameters:\n", 1
    )
