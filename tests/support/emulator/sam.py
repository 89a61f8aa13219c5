"""The application as its users install it: real `sam build` and real `sam deploy`, into the emulator."""

from __future__ import annotations

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from tests.support.emulator.control import ACCOUNT, ROOT, executable
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.emulator.control import Emulator

APPLICATION = "strongref"
"""The application's stack in each region, as in samconfig.toml."""

REGIONS = ("eu-west-1", "us-east-1")

QUICK = {
    "ReadsPerSecond": "200",
    "WritesPerSecond": "100",
    "TagsPerSecond": "100",
    "DeletesPerSecond": "100",
    "ReadLag": "0",
}
"""Parameters for the emulator: it has no quotas, and its reads show every write at once."""


class SamError(RuntimeError):
    """A command failed; the text is what it printed."""


def build(workdir: Path, source: Path = ROOT) -> Path:
    """Build the application, of this version or of another one, into a folder of `workdir`; the built template."""
    built = workdir / "build"
    environment = os.environ | {
        "AWS_DEFAULT_REGION": REGIONS[0],
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    _sam(environment, workdir, "build", "--template-file", str(source / "template.yaml"), "--build-dir", str(built))
    return built / "template.yaml"


def deploy_application(
    emulator: Emulator, built: Path, *, region: str, overrides: Mapping[str, str] = QUICK, account: str = ACCOUNT
) -> None:
    """Deploy what was built into a region, with the repository's own samconfig.toml."""
    options = ["--template-file", str(built), "--region", region, "--config-file", str(ROOT / "samconfig.toml")]
    if overrides:
        options += ["--parameter-overrides", " ".join(f"{name}={value}" for name, value in overrides.items())]
    _sam(emulator.env(account, region), built.parents[1], "deploy", *options)


def deploy_everywhere(
    emulator: Emulator,
    built: Path,
    regions: Iterable[str] = REGIONS,
    overrides: Mapping[str, str] = QUICK,
    account: str = ACCOUNT,
) -> None:
    """Deploy what was built into several regions at once."""
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(deploy_application, emulator, built, region=region, overrides=overrides, account=account)
            for region in regions
        ]
        for job in jobs:
            job.result()


def copy_application(
    emulator: Emulator,
    account: str,
    overrides: Mapping[str, str] = QUICK,
    regions: Iterable[str] = REGIONS,
    of: str = ACCOUNT,
) -> None:
    """Deploy what `sam deploy` brought into regions of one account into those of another one, over what is there.

    Sam would build the same archives again, and takes several times as long as all else.

    Raises:
        SamError: CloudFormation did not accept it.
    """
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda region: _copy(emulator, account, overrides, region, of), regions))


def _copy(emulator: Emulator, account: str, overrides: Mapping[str, str], region: str, of: str) -> None:
    theirs, ours = (emulator.client("s3", region, each) for each in (of, account))
    stacks, to = (emulator.client("cloudformation", region, each) for each in (of, account))
    template = stacks.get_template(StackName=APPLICATION, TemplateStage="Original")["TemplateBody"]
    text = template if isinstance(template, str) else json.dumps(template)
    own = f"application-{account}-{region}"
    at = {"CreateBucketConfiguration": {"LocationConstraint": region}} if region != "us-east-1" else {}
    with suppress(ours.exceptions.BucketAlreadyOwnedByYou):
        ours.create_bucket(Bucket=own, **at)
    for bucket, key in set(re.findall(r"s3://([^/\s\"']+)/([^\s\"']+)", text)):
        ours.put_object(Bucket=own, Key=key, Body=theirs.get_object(Bucket=bucket, Key=key)["Body"].read())
        text = text.replace(f"s3://{bucket}/", f"s3://{own}/")
    ours.put_object(Bucket=own, Key="template.json", Body=text)  # It is too long for the call itself.

    def status() -> str | None:
        with suppress(ClientError):
            found: str = to.describe_stacks(StackName=APPLICATION)["Stacks"][0]["StackStatus"]
            return found
        return None

    action = to.update_stack if status() else to.create_stack
    action(
        StackName=APPLICATION,
        TemplateURL=f"{emulator.url}/{own}/template.json",
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in overrides.items()],
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Tags=stacks.describe_stacks(StackName=APPLICATION)["Stacks"][0]["Tags"],
    )

    def ended() -> str | None:
        found = status()
        return None if found and found.endswith("IN_PROGRESS") else found

    last = wait_until(ended, f"the application in {account}, {region}")
    if last not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        raise SamError(f"The application's copy in {account}, {region} is {last}.")


def _sam(environment: Mapping[str, str], folder: Path, *arguments: str) -> None:
    sam = Path(executable("STRONGREF_SAM", ".build/venv-sam/bin/sam"))
    own = {
        "SAM_CLI_TELEMETRY": "0",
        "__SAM_CLI_APP_DIR": str(folder / "sam"),
        "PATH": f"{sam.parent}{os.pathsep}{environment['PATH']}",  # The layer's build wants a Python with pip: sam's.
    }
    done = subprocess.run(  # noqa: S603
        [str(sam), *arguments],
        env={**environment, **own},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SamError(f"sam {' '.join(arguments)}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
