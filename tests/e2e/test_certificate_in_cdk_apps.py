"""The example of a certificate for another region, in Python and in TypeScript: both apps deploy, and hold."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk
import constructs
import pytest
from aws_cdk import cloud_assembly_schema

from tests.support.documents import ROOT
from tests.support.node import NODE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

EU, US = "eu-west-1", "us-east-1"
BOOTSTRAPPED = "/cdk-bootstrap/hnb659fds/version"
PACKAGES = {"aws-cdk-lib": aws_cdk, "constructs": constructs, "@aws-cdk/cloud-assembly-schema": cloud_assembly_schema}
"""The packages of npm that the Python packages have inside."""


def _python(folder: Path, text: str) -> list[str]:
    (folder / "app.py").write_text(text)
    return [sys.executable, "app.py"]


def _typescript(folder: Path, text: str) -> list[str]:
    """The program without a compiler: its imports are all that JavaScript has not, as it declares no types."""
    for name, package in PACKAGES.items():
        (archive,) = Path(str(package.__file__)).parent.glob("_jsii/*.tgz")
        unpacked = folder / "unpacked" / name
        with tarfile.open(archive) as packed:
            packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Before Python 3.11.4 there is none.
            packed.extractall(unpacked)  # noqa: S202 (a package that pip has installed)
        (folder / "node_modules" / name).parent.mkdir(parents=True, exist_ok=True)
        (unpacked / "package").rename(folder / "node_modules" / name)
    (folder / "app.js").write_text(re.sub(r"import \* as (\w+) from (.*);", r"const \1 = require(\2);", text))
    return [str(NODE), "app.js"]


def _templates(folder: Path, aws: Aws, command: list[str], stacks: list[str]) -> list[dict[str, Any]]:
    """What the program writes for each stack; the last one is deployed after the first."""
    environment = {
        **os.environ,
        **aws.emulator.env(aws.account),
        "CDK_DEFAULT_ACCOUNT": aws.account,
        "CDK_OUTDIR": "cdk.out",
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "layers/core", ROOT / "src"))),
    }
    subprocess.run(command, cwd=folder, env=environment, check=True)  # noqa: S603 (our own)
    manifest = json.loads((folder / "cdk.out/manifest.json").read_text())["artifacts"]
    assert stacks[0] in manifest[stacks[-1]]["dependencies"]
    return [json.loads((folder / f"cdk.out/{stack}.template.json").read_text()) for stack in stacks]


@pytest.mark.deep
@pytest.mark.parametrize(("example", "prepare"), [("certificate.py", _python), ("certificate.ts", _typescript)])
def test_a_certificate_of_another_region_is_used_and_held(
    tmp_path: Path, aws: Aws, names: Callable[[str], str], example: str, prepare: Callable[[Path, str], list[str]]
) -> None:
    text = (ROOT / "examples/cdk" / example).read_text()
    certificate, site = stacks = [names("certificate"), names("site")]
    for stack in stacks:
        text = re.sub(rf"(['\"]){stack.partition('-')[0]}\1", rf"\1{stack}\1", text)
    exporting, importing = _templates(tmp_path, aws, prepare(tmp_path, text), stacks)
    for region in (US, EU):
        aws.client("ssm", region).put_parameter(Name=BOOTSTRAPPED, Value="29", Type="String", Overwrite=True)
    aws.deploy(certificate, exporting, US, "CREATE_COMPLETE")
    aws.deploy(site, importing, EU, "CREATE_COMPLETE")
    arns = [each for each in aws.physical_ids(certificate, US).values() if ":certificate/" in each]
    (distribution,) = (each for name, each in aws.physical_ids(site, EU).items() if name.startswith("Distribution"))
    configuration = aws.client("cloudfront", US).get_distribution_config(Id=distribution)["DistributionConfig"]
    assert [configuration["ViewerCertificate"]["ACMCertificateArn"]] == arns

    aws.delete(certificate, US, "CREATE_COMPLETE")  # CloudFormation refuses it.
    assert "in use by" in "".join(aws.reasons(certificate, US))
    changed = json.loads(json.dumps(exporting).replace("www.example.com", "shop.example.com"))
    aws.deploy(certificate, changed, US, "UPDATE_ROLLBACK_COMPLETE")
    why = "\n".join(aws.reasons(certificate, US))
    assert f"CertificateArn cannot be changed: it is imported by stack {site} ({EU}, {aws.account})" in why

    aws.delete(site, EU)
    aws.delete(certificate, US)
