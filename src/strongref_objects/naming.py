"""What a value of an object is called in each channel. Pure.

A value's *path* is the object's name and the keys that lead to the value:
`("Web", "SecurityGroup", "SecurityGroupId")`.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from strongref.contract.names import MAX_NAME, Key, arn_prefix_length, short_hash
from strongref.contract.values import check_levels
from strongref.errors import BadRequestError
from strongref_objects.errors import BadNameError

Path: TypeAlias = "tuple[str, ...]"

EXPORT_NAME_LIMIT = 255
"""Characters of an export's name (CloudFormation; the CDK keeps to the same)."""

LOGICAL_ID_LIMIT = 255
"""Characters of an output's logical id (AWS: CloudFormation quotas)."""

PARAMETER_LEVELS = 15
"""Of a parameter's name (AWS: PutParameter, Name)."""

_LONGEST_ARN = arn_prefix_length("aws-us-gov", "ap-southeast-99", "0" * 12)
"""Where a parameter's region is not known: as long as it gets."""

_HASH = 16
"""Characters of `short_hash`."""

_EXPORTED = re.compile(r"[A-Za-z0-9:]+")
"""Of a component: letters, digits and colons, which are what CloudFormation allows beside the hyphen."""

_PARAMETER = re.compile(r"[A-Za-z0-9_.-]+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_LAMBDAS_OWN = frozenset(
    {
        "AWS_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_DEFAULT_REGION",
        "AWS_EXECUTION_ENV",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
        "AWS_LAMBDA_FUNCTION_NAME",
        "AWS_LAMBDA_FUNCTION_VERSION",
        "AWS_LAMBDA_INITIALIZATION_TYPE",
        "AWS_LAMBDA_LOG_GROUP_NAME",
        "AWS_LAMBDA_LOG_STREAM_NAME",
        "AWS_LAMBDA_RUNTIME_API",
        "AWS_REGION",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "LAMBDA_RUNTIME_DIR",
        "LAMBDA_TASK_ROOT",
    }
)
"""Variables that Lambda sets itself and lets nobody set (AWS: Lambda Developer Guide, environment variables)."""

_THE_SYSTEMS = frozenset(
    {
        "BASH_ENV",
        "CDPATH",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_LIBRARY_PATH",
        "ENV",
        "GEM_PATH",
        "HOME",
        "HOSTNAME",
        "IFS",
        "JAVA_TOOL_OPTIONS",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "LOGNAME",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PATH",
        "PERL5LIB",
        "PROMPT_COMMAND",
        "PWD",
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "RUBYLIB",
        "SHELL",
        "TEMP",
        "TERM",
        "TMP",
        "TMPDIR",
        "TZ",
        "USER",
    }
)
"""Variables that say to the system, a shell or a runtime how to run: with another value, programs would not start, or
others would.
"""


def shown(path: Path) -> str:
    """A value's name for people, with dots between the keys."""
    return ".".join(path)


def export_name(path: Path) -> str:
    """The name of a value's CloudFormation export: `Web-SecurityGroup-SecurityGroupId`.

    Every `-` inside a component is removed, so that those between components tell them apart. A name over the limit is
    cut, and ends with a hash of all of it.

    Raises:
        BadNameError: a component has characters that an export's name cannot have, or none.
    """
    components = [component.replace("-", "") for component in path]
    for given, component in zip(path, components, strict=True):
        if not _EXPORTED.fullmatch(component):
            raise BadNameError(
                shown(path),
                f"the name of a CloudFormation export consists of letters, digits, colons and hyphens, and {given!r} "
                "has others or none",
            )
    full = "-".join(components)
    if len(full) <= EXPORT_NAME_LIMIT:
        return full
    return f"{full[: EXPORT_NAME_LIMIT - _HASH - 1]}-{short_hash(full)}"


def identity(path: Path) -> str:
    """A name for what is made of an object, as `Web-SecurityGroup`, which no other path has."""
    return "-".join(component.replace("-", "~").replace(":", "+") for component in path)


def logical_id(purpose: str, name: str, readable: int = LOGICAL_ID_LIMIT) -> str:
    """A logical id for what is put into a template: the same for the same name, and another one for each other name.

    Args:
        purpose: what it begins with, as in `StrongrefExport`.
        name: what it stands for; what is not letters and digits is left out, and told by the hash at the end.
        readable: how much of the name stands before the hash, at most.
    """
    told = re.sub(r"[^A-Za-z0-9]", "", name)
    return f"{purpose}{told[: min(readable, LOGICAL_ID_LIMIT - len(purpose) - _HASH)]}{short_hash(name)}"


def parameter_name(prefix: str, path: Path) -> str:
    """The name of a value's parameter below a prefix: `/shared/Web/SecurityGroup/SecurityGroupId`.

    Raises:
        BadNameError: a component has characters that a parameter's name cannot have, or it is too long or too deep.
    """
    for component in path:
        if not _PARAMETER.fullmatch(component):
            raise BadNameError(
                shown(path), f"the name of a parameter consists of letters, digits, _, . and -, not of {component!r}"
            )
    name = "/".join((prefix, *path))
    if name.count("/") > PARAMETER_LEVELS:
        raise BadNameError(shown(path), f"a parameter's name has at most {PARAMETER_LEVELS} levels")
    if len(name) > MAX_NAME - _LONGEST_ARN:
        raise BadNameError(
            shown(path), f"a parameter's name has at most {MAX_NAME} characters, its ARN's prefix included"
        )
    return name


def key_of(path: Path) -> Key:
    """The key of a value's strongref export, with slashes: `Web/SecurityGroup/SecurityGroupId`.

    Raises:
        BadNameError: a component has characters that a key cannot have, or it is too deep; or it is `Ref`, which as a
            key of a map in a template is a function.
    """
    if "Ref" in path:
        raise BadNameError(shown(path), "in a template, CloudFormation takes a map's key Ref for its function")
    try:
        check_levels(shown(path), path)
    except BadRequestError as error:
        problem = error.problem
    else:
        return Key("/".join(path))
    raise BadNameError(shown(path), problem)


def variable(path: Path) -> str:
    """The name of a value's environment variable: `WEB_SECURITY_GROUP_SECURITY_GROUP_ID`.

    Raises:
        BadNameError: it would not begin with a letter, would be a single one, or one that Lambda sets itself or that
            says how programs run; or of a component nothing is left.
    """
    name = snake(path)
    if not all(map(_snake, path)):
        raise BadNameError(shown(path), "an environment variable's name consists of letters, digits and _")
    if not _VARIABLE.fullmatch(name):
        raise BadNameError(
            shown(path),
            f"an environment variable's name begins with a letter and has two characters at least, and {name!r} does "
            "not",
        )
    if name in _LAMBDAS_OWN:
        raise BadNameError(shown(path), f"{name} is a variable that Lambda sets itself")
    if name in _THE_SYSTEMS:
        raise BadNameError(shown(path), f"{name} is a variable by which systems and runtimes are told how to run")
    return name


def snake(path: Path) -> str:
    """A path in capitals, with `_` between its words, whether or not a variable can be called so."""
    return "_".join(map(_snake, path))


def json_key(key: str) -> str:
    """A key in JSON, whose first letter is a small one: `loadBalancerArn`."""
    return key[:1].lower() + key[1:]


def _snake(component: str) -> str:
    """`LoadBalancerArn` and `KMSKeyId` as `LOAD_BALANCER_ARN` and `KMS_KEY_ID`."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", _WORD_ENDS.sub("_", component))
    return words.strip("_").upper()
