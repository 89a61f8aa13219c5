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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.harness import Aws
from tests.support.documents import example, load
from tests.support.emulator import sam
from tests.support.emulator.control import ACCOUNT, OTHER_ACCOUNT, ROOT, Emulator

US, EU = "us-east-1", "eu-west-1"
NOTHING = {"Resources": {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}}
CREATED, UPDATED, REFUSED = "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"
INDENT = " " * 11


@dataclass(frozen=True)
class Scene:
    """An account and region: does there what happens, prints it, and checks that it is what should.

    Attributes:
        name: what its lines begin with.
    """

    aws: Aws
    region: str
    name: str

    def deploy(self, stack: str, template: dict[str, Any], expect: str, why: str, **more: object) -> str:
        done = self.aws.deploy(stack, template, self.region, expect, **more)
        self.tell(stack, expect, why)
        return done.arn

    def delete(self, stack: str, expect: str = "DELETE_COMPLETE", why: str = "") -> None:
        self.aws.delete(stack, self.region, expect)
        self.tell(stack, expect, why)

    def tell(self, stack: str, status: str, why: str) -> None:
        say(f"{self.name}  {stack:<12} {status:<25} {why}".rstrip())

    def explain(self, stack: str, text: str) -> None:
        """Show the reason of a stack's events that has this text."""
        reason = next(reason for reason in self.aws.reasons(stack, self.region) if text in reason)
        say(textwrap.fill(reason, 110, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False))

    def show(self, *arguments: str, lines: int, given: str = "") -> str:
        """Run the command `strongref`, and show it with the first lines of what it prints; `given` is its input."""
        say(f"{self.name}  $ strongref {' '.join(arguments)}")
        command = [str(Path(sys.executable).with_name("strongref")), *arguments]
        environment = {**os.environ, **self.aws.emulator.env(self.aws.account, self.region)}
        done = subprocess.run(  # noqa: S603
            command, cwd=ROOT, env=environment, input=given, capture_output=True, text=True, check=False
        )
        for line in (done.stdout + done.stderr).splitlines()[:lines]:
            say(f"{INDENT}{line}")
        return done.stdout

    def install(self, built: Path, **parameters: str) -> None:
        overrides = {**sam.QUICK, **parameters}
        sam.deploy_application(
            self.aws.emulator, built, region=self.region, overrides=overrides, account=self.aws.account
        )

    @property
    def left(self) -> list[str]:
        """The names of what is stored, but for what belongs to the installation."""
        names = self.aws.parameters(self.region, "/strongref/")
        return [name for name in names if not name.startswith("/strongref/service-tokens/")]


def across_regions(us: Scene, eu: Scene) -> None:
    """A certificate in one region, and a site that uses it in another."""
    certificate, site = load(example("certificate/certificate")), load(example("certificate/site"))
    us.deploy("certificate", certificate, CREATED, "exports its certificate to site in eu-west-1")
    eu.deploy("site", site, CREATED, "imports it")
    arn = eu.aws.outputs("site", EU)["CertificateArn"]
    us.show("who", "certificate", lines=4)

    other = [{"ParameterKey": "DomainName", "ParameterValue": "www.example.org"}]
    file, parameter = "examples/certificate/certificate.yaml", "DomainName=www.example.org"
    answer = us.show("check", "--stack", "certificate", "--template", file, "--parameters", parameter, lines=1)
    check("certificate (us-east-1): refused" in answer, "check predicts what happens to another domain")
    tagged = deepcopy(certificate)
    tagged["Resources"]["Certificate"]["Properties"]["Tags"] = [{"Key": "team", "Value": "web"}]
    strict = ("check", "--stack", "certificate", "--template", "-", "--strict")
    answer = us.show(*strict, lines=1, given=json.dumps(tagged))
    check("certificate (us-east-1): accepted" in answer, "and that other tags replace nothing")
    us.deploy("certificate", certificate, REFUSED, "is deployed anyway, and refused:", Parameters=other)
    us.explain("certificate", "cannot be changed")
    unchanged = eu.aws.outputs("site", EU)["CertificateArn"] == arn and arn in eu.aws.values(EU).values()
    check(unchanged, "the site still has its certificate, and both stacks are healthy")

    eu.deploy("site", NOTHING, UPDATED, "removes its import")
    us.deploy("certificate", certificate, UPDATED, "can change its domain now", Parameters=other)
    check(arn not in eu.aws.values(EU).values(), "the exported certificate is the new one")
    eu.delete("site")
    us.delete("certificate")
    check(not us.left + eu.left, "nothing is left")


def across_accounts(a: Scene, b: Scene, built: Path) -> None:
    """A network in one account, and a stack that uses it in another."""
    b.install(built)
    a.install(built, ExportAccounts=b.aws.account)
    say(f"sam deploy: strongref is installed in {b.name}, too, and {a.name} may export to it")
    b.show("trust", a.aws.account, "--yes", lines=2)

    network, web = load(example("accounts/network")), load(example("accounts/web"))
    other = [{"ParameterKey": "Cidr", "ParameterValue": "10.2.0.0/16"}]
    a.deploy("network", network, CREATED, f"exports its addresses to web in {b.name}")
    b.deploy("web", web, CREATED, "imports it")
    a.deploy("network", network, REFUSED, "wants other addresses, and is refused:", Parameters=other)
    a.explain("network", "cannot be changed")
    a.aws.invoke("Janitor", {"Only": "abroad"}, a.region)
    say(f"{a.name}  the janitor runs, as it does every 15 minutes, and sees what web imports")
    a.delete("network", REFUSED, "is to be deleted, and CloudFormation itself refuses:")
    a.explain("network", "Delete canceled")
    unchanged = b.aws.outputs("web", b.region)["Cidr"] in b.aws.values(b.region).values()
    check(unchanged, "web still has its addresses, and both stacks are healthy")

    b.deploy("web", NOTHING, UPDATED, "removes its import")
    a.deploy("network", network, UPDATED, "can have other addresses now", Parameters=other)
    a.aws.invoke("Janitor", {"Only": "abroad"}, a.region)
    say(f"{a.name}  the janitor runs again, and sees that nobody imports anything")
    b.delete("web")
    a.delete("network")
    check(not a.left + b.left, "nothing is left in either account")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def check(holds: bool, what: str) -> None:
    """Say what holds, or end here."""
    if not holds:
        sys.exit(f"This should hold, and does not: {what}.")
    say(f"{INDENT}{what}")


def main() -> None:
    """Set up, tell the story, and leave nothing behind."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="strongref-demo-") as folder:
        log = Path(folder) / "emulator.log"
        with Emulator.start(log) as emulator:
            built = sam.build(Path(folder))
            sam.deploy_everywhere(emulator, built)
            say(f"sam build and sam deploy: strongref is installed in {EU} and {US} ({time.monotonic() - began:.0f} s)")
            aws = Aws(emulator)
            across_regions(Scene(aws, US, US), Scene(aws, EU, EU))
            across_accounts(Scene(aws, EU, ACCOUNT), Scene(Aws(emulator, OTHER_ACCOUNT), US, OTHER_ACCOUNT), built)
    say(f"Done in {time.monotonic() - began:.0f} s; the emulator is gone.")


if __name__ == "__main__":
    main()
