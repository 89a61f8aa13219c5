"""CDK apps of `cdk/app.cjs`, deployed as `cdk deploy` does it, while a thread looks at what their references read."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self
from zipfile import ZipFile

from strongref_cli.check.report import Verdict
from tests.e2e.harness import failing_resource
from tests.e2e.templates import EU, US
from tests.support.documents import ROOT, blocks
from tests.support.node import NODE, PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path
    from types import TracebackType

    from tests.e2e.harness import Aws
    from tests.support.emulator.control import Parameter

    Template = dict[str, Any]
    Variant = Mapping[str, Any]

OLD, NEWEST = "cdk-strong", "cdk-newest"
"""The packages of `benchmarks/cdk`: the last whose Writers refuse to drop what is read, and one whose do not."""

REGIONS = {"certificate": US, "site": EU, "blog": EU, "hub": EU, "edge": US, "base": US, "front": EU}
REGIONS |= {"topics": US, "reader": EU}
REFUSED = "UPDATE_ROLLBACK_COMPLETE"

_WRITER, _READER = "Custom::CrossRegionExportWriter", "Custom::CrossRegionExportReader"
_PROVIDER = "CustomCrossRegionExport"  # The logical IDs of its function and role begin so.
_SECONDS = 0.04
"""Between two looks."""


class Way(Enum):
    """How a stack reads what it imports."""

    READER = auto()
    IMPORT = auto()


def page_code() -> dict[str, str]:
    """What docs/moving.md has people add to an app in TypeScript."""
    line, setting = [block.text for block in blocks("ts") if block.page.name == "moving.md"]
    return {"line": line, "setting": setting}


def upload(aws: Aws, folder: Path) -> None:
    """Upload the code of the CDK's functions from all assemblies below a folder, as `cdk deploy` does."""
    folders: dict[tuple[str, str, str], Path] = {}
    for file in folder.rglob("*.assets.json"):
        for asset in json.loads(file.read_text())["files"].values():
            if asset["source"]["packaging"] == "zip":
                to = [
                    (each["region"], each["bucketName"], each["objectKey"]) for each in asset["destinations"].values()
                ]
                folders |= dict.fromkeys(to, file.parent / asset["source"]["path"])
    for (region, bucket, key), code in folders.items():
        packed = BytesIO()
        with ZipFile(packed, "w") as zipped:
            for file in code.iterdir():
                zipped.write(file, file.name)
        s3 = aws.client("s3", region)
        elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": region}} if region != US else {}
        with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
            s3.create_bucket(Bucket=bucket, **elsewhere)
        s3.put_object(Bucket=bucket, Key=key, Body=packed.getvalue())


class Watch:
    """Looks all the while whether each value that a deployed stack uses is stored where the stack reads it.

    Attributes:
        ways: how each stack reads; both ways, while it is deployed.
        values: what each stack uses.
        seen: in how many samples a stack was found to read in a way.
        missing: what was not as it should be.
    """

    def __init__(self, aws: Aws, part: str, *, tagged: bool) -> None:
        """Prepare to look.

        Args:
            aws: where.
            part: what the names of all these stacks have.
            tagged: whether a Reader's tag must protect what it reads.
        """
        self.ways: dict[str, frozenset[Way]] = {}
        self.values: dict[str, frozenset[str]] = {}
        self.seen: dict[tuple[str, Way], int] = {}
        self.missing: list[str] = []
        self.tagged = tagged
        self._aws = aws
        self._part = part
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if error is None:
            assert not self.missing, "\n".join(self.missing[:5])

    def _run(self) -> None:
        while not self._ended.wait(_SECONDS):
            try:
                self.look()
            except Exception as error:
                self.missing.append(f"a look failed: {error!r}")
                raise

    def look(self) -> None:
        ways = self.ways
        stored = self._aws.emulator.parameters(self._aws.account, self._part)
        if ways is not self.ways:
            return  # A deployment began or ended meanwhile.
        for stack, allowed in ways.items():
            for value in self.values[stack]:
                found = [way for way in allowed if any(self._serves(way, stack, value, each) for each in stored)]
                if not found:
                    there = [(each.name, sorted(each.tags)) for each in stored if each.value == value]
                    self.missing.append(f"{stack} reads {value} by {allowed}, and there is {there}")
                for way in found:
                    self.seen[stack, way] = self.seen.get((stack, way), 0) + 1

    def _serves(self, way: Way, stack: str, value: str, stored: Parameter) -> bool:
        if stored.value != value:
            return False
        if way is Way.READER:
            tag = f"aws-cdk:strong-ref:{stack}"
            return stored.name.startswith(f"/cdk/exports/{stack}/") and (not self.tagged or tag in stored.tags)
        claims = [arn for tag, arn in stored.tags.items() if tag.startswith("strongref:claim:")]
        return stored.name.startswith(f"/strongref/exports/{stack}/") and any(f"/{stack}/" in arn for arn in claims)


@dataclass
class Stacks:
    """Some apps in several variants.

    Attributes:
        names: the name of each stack.
        templates: by variant and stack.
    """

    aws: Aws
    watch: Watch
    names: Mapping[str, str]
    part: str
    variants: Mapping[str, Variant]
    templates: dict[tuple[str, str], Template]

    @classmethod
    def of(
        cls, aws: Aws, names: Callable[[str], str], folder: Path, apps: Collection[str], variants: Mapping[str, Variant]
    ) -> Self:
        """Synthesize these apps in these variants, all by one program."""
        stacks = {each: names(each) for each in REGIONS}
        given = {
            "account": aws.account,
            **page_code(),
            "apps": list(apps),
            "names": stacks,
            "variants": {str(folder / name): variant for name, variant in variants.items()},
        }
        assert PACKAGES.exists(), "make setup installs the CDK's packages"
        subprocess.run(  # noqa: S603
            [NODE, ROOT / "tests/e2e/cdk/app.cjs"],
            input=json.dumps(given),
            text=True,
            env={**os.environ, "NODE_PATH": str(PACKAGES), "TMPDIR": str(folder)},
            check=True,
        )
        part = names("").removeprefix("-")
        watch = Watch(aws, part, tagged=any(each["cdk"] == OLD for each in variants.values()))
        made = cls(aws, watch, stacks, part, variants, {})
        for file in folder.glob("*/*/*.template.json"):
            made.templates[file.parts[-3], file.name.split(".")[0]] = json.loads(file.read_text())
        upload(aws, folder)
        return made

    def deploy(self, variant: str, *stacks: str, expect: str | None = None) -> None:
        """Deploy some stacks in this order; no resource may change but those of the references."""
        for each in stacks:
            before = self.others(each)
            self._deploy(variant, each, self.templates[variant, each], expect)
            if before is not None:
                self._has_still(each, before)

    def deploy_failing_once(self, variant: str, *stacks: str) -> None:
        """Deploy some stacks in this order, each at first with a resource that fails after all the others."""
        for each in stacks:
            before = self.others(each)
            template = self.templates[variant, each]
            others = [name for name in template["Resources"] if not name.startswith(_PROVIDER)]
            failing = {**template, "Resources": {**template["Resources"], "Failing": failing_resource(*others)}}
            self._deploy(variant, each, failing, REFUSED)
            self._has_still(each, before)
            self.deploy(variant, each)

    def _deploy(self, variant: str, stack: str, template: Template, expect: str | None) -> None:
        name, was = self.names[stack], self.watch.ways.get(self.names[stack])
        after = self._way(variant, stack, template)
        if was and after:
            self.watch.ways = {**self.watch.ways, name: was | after}
        there = self.aws.status(name, REGIONS[stack])
        expected = expect or ("UPDATE_COMPLETE" if there else "CREATE_COMPLETE")
        ended = self.aws.deploy(name, template, REGIONS[stack], expected)
        if now := was if ended.status == REFUSED else after:
            self.watch.values = {**self.watch.values, name: self.used(stack)}
            self.watch.ways = {**self.watch.ways, name: now}

    def _way(self, variant: str, stack: str, template: Template) -> frozenset[Way]:
        if _READER not in [each["Type"] for each in template["Resources"].values()]:
            return frozenset()
        keeps = self.variants[variant].get("settings", {}).get(stack, {}).get("Readers") == "keep"
        return frozenset({Way.IMPORT if self.variants[variant].get("line") and not keeps else Way.READER})

    def used(self, stack: str) -> frozenset[str]:
        """The values that a stack's own resources have."""
        ids = self.others(stack) or {}
        own = {ids[name] for name in ids if name.startswith("Reads")}
        return frozenset(
            each.value for each in self.aws.emulator.parameters(self.aws.account, self.part) if each.name in own
        )

    def refuse(self, variant: str, stack: str, why: str) -> None:
        """Deploy a stack, which is refused for this reason, as predicted."""
        before = self.others(stack)
        self._deploy(variant, stack, self.templates[variant, stack], REFUSED)
        self._has_still(stack, before)
        self._was_refused(stack, why)

    def refuse_deletion(self, stack: str, why: str) -> None:
        name, region = self.names[stack], REGIONS[stack]
        self.aws.delete(name, region, self.aws.status(name, region))
        self._was_refused(stack, why)

    def _was_refused(self, stack: str, why: str) -> None:
        reasons = "\n".join(self.aws.reasons(self.names[stack], REGIONS[stack]))
        assert why in reasons, reasons
        assert self.predicted(stack) is Verdict.REFUSED

    def predicted(self, stack: str) -> Verdict:
        """What was predicted for the last deployment, which was one of this stack."""
        assert self.aws.agreement
        last = self.aws.agreement.reports[-1]
        assert last.stack == self.names[stack], f"the last prediction was about {last.stack}"
        return last.verdict

    def delete(self, *stacks: str) -> None:
        for each in stacks:
            ways = dict(self.watch.ways)
            ways.pop(self.names[each], None)
            self.watch.ways = ways
            self.aws.delete(self.names[each], REGIONS[each])

    def others(self, stack: str) -> dict[str, str] | None:
        """The physical IDs of a stack's resources that are not about references; None if it does not exist."""
        if not self.aws.status(self.names[stack], REGIONS[stack]):
            return None
        return {
            each["LogicalResourceId"]: each["PhysicalResourceId"]
            for each in self.resources(stack)
            if not each["ResourceType"].startswith("Custom::") and not each["LogicalResourceId"].startswith(_PROVIDER)
        }

    def _has_still(self, stack: str, before: dict[str, str] | None) -> None:
        now = self.others(stack)
        assert now == before, f"{stack} had {before}, and has {now}"

    def resources(self, stack: str) -> list[dict[str, Any]]:
        client = self.aws.client("cloudformation", REGIONS[stack])
        pages = client.get_paginator("list_stack_resources").paginate(StackName=self.names[stack])
        return [each for page in pages for each in page["StackResourceSummaries"]]

    def stored(self, path: str) -> set[tuple[str, str]]:
        """The regions and names of what is stored below a path for these stacks."""
        found = self.aws.emulator.parameters(self.aws.account, self.part)
        return {(each.region, each.name) for each in found if each.name.startswith(path)}

    def written(self, variant: str) -> set[tuple[str, str]]:
        """The regions and names of what the Writers of a variant write."""
        of = [template for (name, _), template in self.templates.items() if name == variant]
        resources = [each for template in of for each in template["Resources"].values() if each["Type"] == _WRITER]
        given = [each["Properties"]["WriterProps"] for each in resources]
        return {(each["region"], name) for each in given for name in each["exports"]}

    def left(self) -> list[str]:
        """The hold stacks that are there for these stacks, and all that is stored for them."""
        found = [name for _, name in self.stored("/")]
        for region in (EU, US):
            pages = self.aws.client("cloudformation", region).get_paginator("describe_stacks").paginate()
            found += [each["StackName"] for page in pages for each in page["Stacks"] if self.part in each["StackName"]]
        return found
