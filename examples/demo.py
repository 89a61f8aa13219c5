"""The story of a strong reference, told by real deployments into a local emulator of AWS. Run by `make demo`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.e2e.harness import Aws
from tests.support.documents import example, load
from tests.support.emulator import sam
from tests.support.emulator.control import ROOT, Emulator

US, EU = "us-east-1", "eu-west-1"
NOTHING = {"Resources": {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}}


class Story:
    """Prints what happens, line by line, and checks that it is what should."""

    def __init__(self, aws: Aws) -> None:
        self.aws = aws
        self.certificate = load(example("certificate/certificate"))
        self.site = load(example("certificate/site"))

    def deploy(self, region: str, stack: str, template: dict[str, Any], expect: str, why: str, **more: object) -> str:
        done = self.aws.deploy(stack, template, region, expect, **more)
        say(f"{region}  {stack:<12} {expect:<25} {why}")
        return done.arn

    def show(self, region: str, *arguments: str, lines: int, given: str = "") -> str:
        """Run the command `strongref`, and show it with the first lines of what it prints; `given` is its input."""
        say(f"{region}  $ strongref {' '.join(arguments)}")
        command = [str(Path(sys.executable).with_name("strongref")), *arguments]
        environment = {**os.environ, **self.aws.emulator.env(region=region)}
        done = subprocess.run(  # noqa: S603
            command, cwd=ROOT, env=environment, input=given, capture_output=True, text=True, check=False
        )
        for line in (done.stdout + done.stderr).splitlines()[:lines]:
            say(f"           {line}")
        return done.stdout

    def tell(self) -> None:
        self.deploy(
            US, "certificate", self.certificate, "CREATE_COMPLETE", "exports its certificate to site in eu-west-1"
        )
        self.deploy(EU, "site", self.site, "CREATE_COMPLETE", "imports it")
        arn = self.aws.outputs("site", EU)["CertificateArn"]
        self.show(US, "who", "certificate", lines=4)

        other = [{"ParameterKey": "DomainName", "ParameterValue": "www.example.org"}]
        file, parameter = "examples/certificate/certificate.yaml", "DomainName=www.example.org"
        answer = self.show(
            US, "check", "--stack", "certificate", "--template", file, "--parameters", parameter, lines=1
        )
        check("certificate (us-east-1): refused" in answer, "check predicts what happens to another domain")
        tagged = deepcopy(self.certificate)
        tagged["Resources"]["Certificate"]["Properties"]["Tags"] = [{"Key": "team", "Value": "web"}]
        strict = ("check", "--stack", "certificate", "--template", "-", "--strict")
        answer = self.show(US, *strict, lines=1, given=json.dumps(tagged))
        check("certificate (us-east-1): accepted" in answer, "and that other tags replace nothing")
        refused, why = "UPDATE_ROLLBACK_COMPLETE", "is deployed anyway, and refused:"
        self.deploy(US, "certificate", self.certificate, refused, why, Parameters=other)
        reason = next(reason for reason in self.aws.reasons("certificate", US) if "cannot be changed" in reason)
        indent = " " * 11
        say(textwrap.fill(reason, 110, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False))
        unchanged = self.aws.outputs("site", EU)["CertificateArn"] == arn and arn in self.aws.values(EU).values()
        check(unchanged, "the site still has its certificate, and both stacks are healthy")

        self.deploy(EU, "site", NOTHING, "UPDATE_COMPLETE", "removes its import")
        self.deploy(
            US, "certificate", self.certificate, "UPDATE_COMPLETE", "can change its domain now", Parameters=other
        )
        check(arn not in self.aws.values(EU).values(), "the exported certificate is the new one")

        for stack, region in (("site", EU), ("certificate", US)):
            self.aws.delete(stack, region)
            say(f"{region}  {stack:<12} DELETE_COMPLETE")
        left = [name for region in (EU, US) for name in self.aws.parameters(region, "/strongref/")]
        left = [name for name in left if not name.startswith("/strongref/service-tokens/")]
        check(not left, "nothing is left")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def check(holds: bool, what: str) -> None:
    """Say what holds, or end here."""
    if not holds:
        sys.exit(f"This should hold, and does not: {what}.")
    say(f"           {what}")


def main() -> None:
    """Set up, tell the story, and leave nothing behind."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="strongref-demo-") as folder:
        log = Path(folder) / "emulator.log"
        with Emulator.start(log) as emulator:
            sam.deploy_everywhere(emulator, sam.build(Path(folder)))
            say(f"sam build and sam deploy: strongref is installed in {EU} and {US} ({time.monotonic() - began:.0f} s)")
            Story(Aws(emulator)).tell()
    say(f"Done in {time.monotonic() - began:.0f} s; the emulator is gone.")


if __name__ == "__main__":
    main()
