"""`strongref selftest`: says what it will make, asks, tries every check on real stacks, and takes everything away."""

from __future__ import annotations

import json
import re
import secrets
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple

from strongref import __version__
from strongref.arns import Arn
from strongref.aws.clients import Clients
from strongref.errors import StrongRefError
from strongref.text import some
from strongref_cli.install.installed import export_accounts, installed_in
from strongref_cli.install.plan import DEFAULT_STACK
from strongref_cli.selftest.behavior import ABROAD, CHECKS, NEED_MACRO, Check
from strongref_cli.selftest.beliefs import BELIEFS, Belief, Seen
from strongref_cli.selftest.lab import PREFIX, RUN, Lab, TooLongError, UnexpectedError
from strongref_cli.selftest.probes import PROBES, Probe
from strongref_cli.selftest.scene import Scene
from strongref_cli.terminal import FAILED
from strongref_cli.terminal.output import Result, TextTable, ask, ask_about, count, progress, put_out, show
from strongref_toolkit.errors import AwsCallError, UsageError
from strongref_toolkit.messages import tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from strongref_toolkit.session import ToolSession

_AT_ONCE = 8
"""Checks side by side: 16 stacks at most."""
_FIRST = ("continuation", "race", "request", "redelivery", "chain")
"""Those that take longest."""
_FEW_FUNCTIONS = 50
"""Functions at once that checks side by side may come near."""
_ALONE = ("rates",)
"""What takes so many calls that the others would wait."""
_MINUTES, _QUICK_MINUTES = 25, 8


def _actions(resource: str, names: str) -> tuple[list[str], str]:
    """The actions of these names, of the service that a resource belongs to."""
    return [f"{resource.split(':')[2]}:{name}" for name in names.split()], resource


_LOOKS = "DescribeStacks DescribeStackEvents DescribeStackResource ListStacks ListExports ListImports GetTemplate"
POLICY = {
    "Stacks": _actions(f"arn:*:cloudformation:*:*:stack/{PREFIX}*", "CreateStack UpdateStack DeleteStack"),
    "Holds": _actions(f"arn:*:cloudformation:*:*:stack/strongref-hold-*{PREFIX}*", "DeleteStack"),
    "Macro": _actions("arn:*:cloudformation:*:*:transform/StrongRef", "CreateStack UpdateStack CreateChangeSet"),
    "Functions": _actions("arn:*:lambda:*:*:function:strongref-*", "InvokeFunction GetFunctionConfiguration"),
    "OwnFunctions": _actions(
        f"arn:*:lambda:*:*:function:{PREFIX}*",
        "CreateFunction DeleteFunction GetFunction GetFunctionConfiguration GetFunctionCodeSigningConfig "
        "GetFunctionRecursionConfig GetRuntimeManagementConfig ListTags TagResource",
    ),
    "OwnRoles": _actions(
        f"arn:*:iam::*:role/{PREFIX}*",
        "CreateRole DeleteRole GetRole PassRole PutRolePolicy DeleteRolePolicy GetRolePolicy ListRolePolicies "
        "ListAttachedRolePolicies",
    ),
    "Parameters": _actions(
        f"arn:*:ssm:*:*:parameter/*{PREFIX}*",
        "GetParameters GetParametersByPath ListTagsForResource PutParameter AddTagsToResource RemoveTagsFromResource "
        "DeleteParameter DeleteParameters",
    ),
    "Looks": (
        [
            *(f"cloudformation:{x}" for x in _LOOKS.split()),
            *("lambda:GetAccountSettings", "ssm:DescribeParameters", "tag:GetResources"),
        ],
        "*",
    ),
}
"""The least permissions, by statement: actions, and what they are for."""

_CUT = 90
"""Characters of what was seen, in a row of a table."""
_RESULTS = {True: "PASS", False: "FAIL", None: "UNKNOWN"}
_OF_CHECKS, _OF_BELIEFS = ("CHECK", "RESULT", "SECONDS", "SEEN"), ("BELIEF", "RESULT", "SEEN", "SETTING")


class Tried(NamedTuple):
    """One check or probe, tried."""

    check: Check | Probe
    passed: bool | None  # None if it could not be tried
    seen: str  # what was seen, with CloudFormation's own words
    seconds: float
    beliefs: Mapping[str, Seen]  # by name, what a probe that passed has seen


def selftest(args: argparse.Namespace, session: ToolSession) -> int:
    role = args.account_role
    if args.policy:
        policy = {**POLICY, **({"OtherAccount": (["sts:AssumeRole"], role)} if role else {})}
        statements = [
            {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resource}
            for sid, (actions, resource) in policy.items()
        ]
        put_out(f"{json.dumps({'Version': '2012-10-17', 'Statement': statements}, indent=2)}\n".encode())
        return 0
    regions = list(dict.fromkeys(args.region))
    if not 0 < len(regions) <= 2:  # noqa: PLR2004
        raise UsageError(f"--region must be given once or twice, got {some(regions, 5) or 'none'}")
    if args.clean is not None:
        return _clean(args, session, regions)
    checks = _chosen(args.only, quick=args.quick, abroad=bool(role))
    lab = replace(_lab(session, f"{PREFIX}{secrets.token_hex(4)}", regions, role), quick=args.quick)
    if without := _check_installed(lab):
        tell("note", f"Not tried: {some(NEED_MACRO, 5)}. {without} is installed with Macro=false.")
        checks = [each for each in checks if each.name not in NEED_MACRO]
    _warn_of_few_functions(lab)
    minutes = _QUICK_MINUTES if args.quick else _MINUTES
    ask_about(_plan(checks, lab, minutes), args, f"Run {'it' if len(checks) == 1 else f'all {len(checks)}'}?")
    # What ends a pipeline's job, or whose terminal is closed, is as ctrl-C. Windows has no SIGHUP.
    for name in {"SIGTERM", "SIGHUP"} & {*dir(signal)}:
        signal.signal(getattr(signal, name), signal.default_int_handler)
    late = Timer(60 * minutes, lab.stop.set)
    late.daemon = True
    late.start()
    tried, left = _run(checks, lab)
    report = _report(tried, left, lab)
    show(report, args)
    return 0 if report.document["passed"] else FAILED


def _lab(session: ToolSession, name: str, regions: Sequence[str], role: str | None) -> Lab:
    """Raises `UsageError`: the role is none of another account; `NoWayInError`: it cannot be assumed."""
    accounts = session.accounts(regions[0], role)
    lab = Lab(session, name, (regions[0], regions[-1]), accounts.own)
    if not role:
        return lab
    arn = Arn.parse(role)
    if not arn or arn.account == lab.account:
        raise UsageError(f"--account-role must be the ARN of another account's role, got {role}")
    clients = accounts.clients(arn.account)
    return replace(lab, abroad=replace(lab, session=session._replace(clients=clients), account=arn.account))


def _chosen(only: Sequence[str], *, quick: bool, abroad: bool) -> list[Check | Probe]:
    known: tuple[Check | Probe, ...] = (*CHECKS, *(ABROAD if abroad else ()), *PROBES)
    names = {each.name for each in known}
    if abroad_only := [each.name for each in ABROAD if each.name in only and not abroad]:
        raise UsageError(f"--only {abroad_only[0]} needs --account-role")
    if unknown := [each for each in only if each not in names]:
        raise UsageError(f"--only {unknown[0]} names no check. There are {', '.join(sorted(names))}")
    chosen = [each for each in known if (each.name in only if only else each.quick or not quick)]
    return sorted(chosen, key=lambda each: _FIRST.index(each.name) if each.name in _FIRST else len(_FIRST))


def _check_installed(lab: Lab) -> str:
    """The first region that is installed without the macro, if any. Raises `UsageError`: one cannot be tested."""
    without = ""
    for there in filter(None, (lab, lab.abroad)):
        for region in dict.fromkeys(lab.regions if there is lab else lab.regions[1:]):
            found = installed_in(there.session, region)
            has, stack = f"{region} of account {there.account} has", found.stack
            if found.elsewhere and not stack:
                raise UsageError(f"{has} it as {found.elsewhere}: the selftest needs {DEFAULT_STACK}")
            if not stack:
                raise UsageError(f"{has} no stack {DEFAULT_STACK}. Run strongref install --region {region} there first")
            if stack.version != __version__:
                then = f"and the command is {__version__}. Upgrade the older"
                raise UsageError(f"{has} strongref {stack.version}, {then}")
            without = without or (region if stack.parameters.get("Macro") == "false" else "")
    if lab.abroad and lab.abroad.account not in (accounts := export_accounts(lab.session, lab.regions[0])):
        lists = ",".join([*accounts, lab.abroad.account])
        then = f"Run strongref install --region {lab.regions[0]} --parameter ExportAccounts={lists} first"
        raise UsageError(f"{lab.regions[0]} does not export to account {lab.abroad.account}. {then}")
    return without


def _warn_of_few_functions(lab: Lab) -> None:
    """AWS gives new accounts few functions at once; those beyond that wait."""
    then = "Events may come late, so that response-date fails. Request a higher quota of Lambda"
    for there in filter(None, (lab, lab.abroad)):
        for region in dict.fromkeys(there.regions):
            with suppress(AwsCallError):  # It is only a note.
                limit = there.call(Clients.functions, "GetAccountSettings", region)["AccountLimit"]
                if (at_once := limit["UnreservedConcurrentExecutions"]) < _FEW_FUNCTIONS:
                    tell("note", f"At most {at_once} functions run at once in {region} of {there.account}. {then}.")


def _plan(checks: Sequence[Check | Probe], lab: Lab, minutes: int) -> Result:
    where = " and ".join(dict.fromkeys(lab.regions))
    notes = [
        f"In {where}, it creates {count(2 * len(checks), 'stack')} named {lab.name}-*, and deletes them.",
        f"It takes up to {minutes} minutes and costs a few cents. strongref selftest --policy prints what it needs.",
    ]
    rows = [(each.name, each.says) for each in checks]
    table = TextTable(("CHECK OR PROBE", "WHAT MUST HOLD, OR IS LOOKED AT"), rows, notes=notes)
    return Result([table], {"checks": [each.name for each in checks]})


def _run(checks: Sequence[Check | Probe], lab: Lab) -> tuple[list[Tried], list[str]]:
    """Try the checks side by side, then remove everything. After ctrl-C, it is removed as well."""
    tried: dict[str, Tried] = {}
    with progress("Testing") as step:

        def done(now: Tried) -> None:
            tried[now.check.name] = now
            step(f"{len(tried)} of {len(checks)}, {sum(not each.passed for each in tried.values())} failed")
            if not sys.stderr.isatty():
                how = f"{'done' if now.passed else 'FAILED'} after {now.seconds:.0f} s"
                rest = [each.name for each in checks if each.name not in tried]
                waits = f", then {some(rest, 3)}" if 0 < len(rest) <= 3 else ""  # noqa: PLR2004 (some may take long)
                tell("note", f"{now.check.name}: {how}, {len(tried)} of {len(checks)}{waits}")

        try:
            for alone in (False, True):
                now = [each for each in checks if (each.name in _ALONE) is alone]
                with ThreadPoolExecutor(_AT_ONCE) as pool:
                    try:
                        for ended in as_completed([pool.submit(_try, each, lab) for each in now]):
                            done(ended.result())
                    except BaseException:
                        lab.stop.set()  # Those that have begun soon end, and the others do not begin.
                        pool.shutdown(wait=False, cancel_futures=True)
                        raise
        except BaseException:
            for text in _remove(lab, step):
                tell("note", f"Not removed: {text}")
            raise
        left = _remove(lab, step)
    return [tried[each.name] for each in checks], left


def _try(check: Check | Probe, lab: Lab) -> Tried:
    web = lab.abroad if lab.abroad and check in ABROAD else lab
    scene, began = Scene(lab, check.name, web), time.monotonic()
    beliefs: Mapping[str, Seen] = {}
    passed: bool | None = None
    try:
        lab.sleep(0)
        found = check.run(scene)
        passed, seen, beliefs = (True, found, {}) if isinstance(found, str) else (True, "", found)
    except (UnexpectedError, TooLongError) as error:
        passed, seen = False if isinstance(check, Check) else None, str(error)
    except StrongRefError as error:
        seen = str(error)
    except (LookupError, TypeError, ValueError) as error:  # AWS's answer is not as it was read; the others go on.
        seen = f"An answer of AWS was not as expected: {error!r}"
    seconds = time.monotonic() - began
    with suppress(StrongRefError):  # What is left is removed at the end.
        scene.delete_consumer()
        scene.delete_producer()
    return Tried(check, passed, seen, seconds, beliefs)


def believed(tried: Sequence[Tried]) -> dict[Belief, Seen]:
    """What was seen of each belief that a check or a probe looks at: nothing, if that failed."""
    by_name, found = {each.check.name: each for each in tried}, {}
    for belief in BELIEFS:
        if by := by_name.get(belief.shown_by):
            also = Seen(by.passed, f"as in {by.check.name}" if isinstance(by.check, Check) else by.seen)
            found[belief] = by.beliefs[belief.name] if by.beliefs else also
    return found


def _remove(lab: Lab, step: Callable[[str], None]) -> list[str]:
    """What could not be removed, and the command that tries it again."""
    where = " ".join(f"--region {each}" for each in dict.fromkeys(lab.regions))
    where += " --account-role ROLE" if lab.abroad else ""
    again = f"strongref selftest {where} --clean {lab.name}"
    try:
        left = lab.clean(step)
    except StrongRefError as error:
        left = [str(error)]
    except BaseException:
        tell("note", f"Not everything was removed: {again}")
        raise
    return [*left, f"Try it again: {again}"] if left else []


def _report(tried: Sequence[Tried], left: Sequence[str], lab: Lab) -> Result:
    seen_of, left = believed(tried), [_anonymous(each) for each in left]
    behavior: list[dict[str, Any]] = [
        {"check": check.name, "passed": passed, "seconds": round(seconds, 1), "seen": _anonymous(seen)}
        for check, passed, seen, seconds, _ in tried
        if isinstance(check, Check)
    ]
    beliefs: list[dict[str, Any]] = [
        {"belief": belief.name, "passed": holds, "seen": _anonymous(seen), "setting": setting, "means": belief.says}
        for belief, (holds, seen, setting) in seen_of.items()
    ]
    wrong = [belief for belief, seen in seen_of.items() if seen.holds is False]
    notes = [f"{each.name} does not hold. strongref relies on it: {each.says}." for each in wrong]
    notes += [f"Not removed: {each}" for each in left]
    passing, hold = (sum(each["passed"] is True for each in rows) for rows in (behavior, beliefs))
    checks, looks = count(len(behavior), "check"), count(len(beliefs), "belief")
    notes.append(f"{passing} of {checks} passed, {hold} of {looks} hold.")
    tables = [
        TextTable(columns, [_row(*list(each.values())[: len(columns)]) for each in rows])
        for rows, columns in ((behavior, _OF_CHECKS), (beliefs, _OF_BELIEFS))
        if rows
    ]
    passed = not left and all(each["passed"] for each in (*behavior, *beliefs))  # Each probe looks at beliefs.
    document = {"strongref": __version__, "regions": lab.regions, "quick": lab.quick, "passed": passed}
    document |= {"behavior": behavior, "beliefs": beliefs, "left": left}
    return Result([*tables, TextTable(notes=notes)], document)


def _row(name: str, held: bool | None, *rest: object) -> tuple[str, ...]:
    """A row of a table: where all is well, long texts are cut."""
    texts = [str(each) for each in rest]
    return name, _RESULTS[held], *(f"{x[:_CUT]}…" if held and len(x) > _CUT else x for x in texts)


def _anonymous(text: str) -> str:
    """A text for an issue: without account IDs and the names of callers."""
    text = re.sub(r"\b(assumed-role|federated-user|user)/\S+", r"\1/CALLER", text)
    return re.sub(r"(?<!\d)\d{12}(?!\d)", "ACCOUNT", text)


def _clean(args: argparse.Namespace, session: ToolSession, regions: Sequence[str]) -> int:
    """Remove what runs have left that did not end."""
    if args.clean and not RUN.fullmatch(args.clean):
        raise UsageError(f"--clean must be the name of a run, as in {PREFIX}0a1b2c3d, got {args.clean!r}")
    here = _lab(session, PREFIX, regions, args.account_role)
    names = [args.clean] if args.clean else here.runs()
    question = f"Remove the stacks and parameters of {some(names, 5)}? If a run is still going on, it fails."
    ask(question, yes=args.yes or not names)
    with progress("Removing") as step:
        runs = [replace(here, name=each, abroad=here.abroad and replace(here.abroad, name=each)) for each in names]
        left = [each for run in runs for each in run.clean(step)]
    notes = [f"Not removed: {each}" for each in left] or [f"Removed {each}." for each in names]
    notes = notes or ["There is nothing to remove."]
    show(Result([TextTable(notes=notes)], {"removed": names, "left": left}), args)
    return FAILED if left else 0
