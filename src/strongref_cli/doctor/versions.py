"""What `doctor` says about the versions that are installed in regions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from strongref_cli.doctor.diagnosis import DoctorFinding, Problem, Severity
from strongref_cli.install.comparison import differences
from strongref_cli.install.installed import installed_in
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strongref_cli.install.plan import Found
    from strongref_toolkit.session import ToolSession


def version_problems(session: ToolSession, regions: Sequence[str]) -> tuple[list[Problem], dict[str, AwsCallError]]:
    """Regions whose installation is of another version than that of others, and those of which AWS does not say."""

    def look(region: str) -> Found | AwsCallError:
        try:
            return installed_in(session, region)
        except AwsCallError as error:
            return error

    answers = in_threads([partial(look, region) for region in regions])
    failed = {region: each for region, each in zip(regions, answers, strict=True) if isinstance(each, AwsCallError)}
    return list(_differing([each for each in answers if not isinstance(each, AwsCallError)])), failed


def _differing(found: Sequence[Found]) -> Iterator[Problem]:
    for each in differences(found, everywhere=False):
        if each.what == "version":
            listed = ", ".join(f"{version} in {region}" for region, version in sorted(each.values.items()))
            step = "run strongref install in all of them"
            yield Problem(
                found[0].region, DoctorFinding.VERSION_DIFFERS, Severity.ACTION, f"strongref is {listed}", step
            )
