"""The name of an object's value in each channel. Pure.

A value's *path* is the object's name and the keys that lead to the value:
`("Web", "SecurityGroup", "SecurityGroupId")`.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from strongref.contract.names import MAX_NAME, Key, arn_prefix_length, short_hash
from strongref.contract.values import check_levels
from strongref.errors import BadRequestError
from strongref_objects.base.errors import BadNameError

Path: TypeAlias = "tuple[str, ...]"

EXPORT_NAME_LIMIT = 255
"""Characters of an export's name (CloudFormation; the CDK has the same limit)."""

LOGICAL_ID_LIMIT = 255
"""Characters of an output's logical ID (AWS: CloudFormation quotas)."""

PARAMETER_LEVELS = 15
"""Levels of a parameter's name (AWS: PutParameter, Name)."""

_LONGEST_ARN = arn_prefix_length("aws-us-gov", "ap-southeast-99", "0" * 12)
"""The longest prefix, since a parameter's region may be unknown."""

_HASH = 16
"""Characters of `short_hash`."""

_ITEM = re.compile(r"(.+?)-?[0-9a-f]{16}")
"""The name of a list's item. An export's name lacks the hyphen."""

_EXPORTED = re.compile(r"[A-Za-z0-9:]+")
"""A component: letters, digits and colons, which CloudFormation allows in addition to the hyphen."""

_PARAMETER = re.compile(r"[A-Za-z0-9_.-]+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# fmt: off
_RESERVED_BY_LAMBDA = frozenset({
    "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION",
    "AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
    "AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "LAMBDA_RUNTIME_DIR",
    "LAMBDA_TASK_ROOT",
})
"""Variables that Lambda sets and functions cannot (AWS: Lambda Developer Guide, environment variables)."""

_RESERVED_BY_SYSTEMS = frozenset({
    "BASH_ENV", "CDPATH", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "ENV", "GEM_PATH", "HOME", "HOSTNAME",
    "IFS", "JAVA_TOOL_OPTIONS", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "LD_PRELOAD",
    "LOGNAME", "NODE_OPTIONS", "NODE_PATH", "PATH", "PERL5LIB", "PROMPT_COMMAND", "PWD", "PYTHONHOME",
    "PYTHONPATH", "PYTHONSTARTUP", "RUBYLIB", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER",
})
"""Variables from which a system, shell or runtime reads its settings: other values would break or redirect programs."""
# fmt: on


def shown(path: Path) -> str:
    """A value's name for people, with dots between the keys."""
    return ".".join(path)


def export_name(path: Path) -> str:
    """The name of a value's CloudFormation export: `Web-SecurityGroup-SecurityGroupId`.

    Hyphens inside a component are removed, so that the remaining ones separate components. A name over the limit is
    cut and ends with a hash of the full name.

    Raises:
        BadNameError: a component is empty or has characters that an export's name cannot have.
    """
    for component in path:
        if not _EXPORTED.fullmatch(component.replace("-", "")):
            problem = f"must consist of letters, digits, colons and hyphens, got {component!r}"
            raise BadNameError(shown(path), f"a CloudFormation export name {problem}")
    full = "-".join(component.replace("-", "") for component in path)
    if len(full) <= EXPORT_NAME_LIMIT:
        return full
    return f"{full[: EXPORT_NAME_LIMIT - _HASH - 1]}-{short_hash(full)}"


def item_path(path: Path, identity: str) -> Path:
    """The path of one item of a list, by what identifies the item: `("Network", "SubnetIds-0123456789abcdef")`."""
    return (*path[:-1], f"{path[-1]}-{short_hash(identity)}")


def list_of(name: str) -> str | None:
    """The name of the list to which an item of this name would belong, in any channel; None if it cannot be an item."""
    found = _ITEM.fullmatch(name)
    return found and found[1]


def construct_id(path: Path) -> str:
    """An ID for what represents an object, as in `Web-SecurityGroup`; no two paths have the same."""
    return "-".join(component.replace("-", "~").replace(":", "+") for component in path)


def logical_id(purpose: str, name: str, readable: int = LOGICAL_ID_LIMIT) -> str:
    """A logical ID that follows from a name; no two names have the same.

    Args:
        purpose: its prefix, as in `StrongrefExport`.
        name: letters and digits become part of the ID; everything else only counts in the hash at its end.
        readable: the most characters of the name that precede the hash.
    """
    letters = re.sub(r"[^A-Za-z0-9]", "", name)
    return f"{purpose}{letters[: min(readable, LOGICAL_ID_LIMIT - len(purpose) - _HASH)]}{short_hash(name)}"


def parameter_name(prefix: str, path: Path) -> str:
    """The name of a value's parameter below a prefix: `/shared/Web/SecurityGroup/SecurityGroupId`.

    Raises:
        BadNameError: a component has characters that a parameter's name cannot have, or the name is too long or deep.
    """
    name = "/".join((prefix, *path))
    invalid = [component for component in path if not _PARAMETER.fullmatch(component)]
    if invalid:
        problem = f"must consist of letters, digits, _, . and -, got {invalid[0]!r}"
    elif name.count("/") > PARAMETER_LEVELS:
        problem = f"can have at most {PARAMETER_LEVELS} levels"
    elif len(name) > MAX_NAME - _LONGEST_ARN:
        problem = f"can have at most {MAX_NAME} characters, including its ARN's prefix"
    else:
        return name
    raise BadNameError(shown(path), f"a parameter name {problem}")


def export_key(path: Path) -> Key:
    """The key of a value's strongref export, with slashes: `Web/SecurityGroup/SecurityGroupId`.

    Raises:
        BadNameError: a component has characters that a key cannot have, or is `Ref`, which as a map's key is an
            intrinsic function; or the key is too deep.
    """
    if "Ref" in path:
        raise BadNameError(shown(path), "CloudFormation reads the map key Ref in a template as its function")
    try:
        check_levels(shown(path), path)
    except BadRequestError as error:
        raise BadNameError(shown(path), f"it {error.problem}") from None
    return Key("/".join(path))


def variable_name(path: Path) -> str:
    """The name of a value's environment variable: `WEB_SECURITY_GROUP_SECURITY_GROUP_ID`.

    Raises:
        BadNameError: the name would not begin with a letter or have only one character; Lambda, the system or a
            runtime uses a variable of this name; or a component has no letters and digits.
    """
    name = in_capitals(path)
    if not all(map(_in_capitals, path)):
        raise BadNameError(shown(path), "an environment variable's name must consist of letters, digits and _")
    if not _VARIABLE.fullmatch(name):
        raise BadNameError(
            shown(path),
            f"an environment variable's name must begin with a letter and have at least two characters, got {name!r}",
        )
    if name in _RESERVED_BY_LAMBDA:
        raise BadNameError(shown(path), f"Lambda sets the variable {name} itself")
    if name in _RESERVED_BY_SYSTEMS:
        raise BadNameError(shown(path), f"systems and runtimes read their own settings from the variable {name}")
    return name


def in_capitals(path: Path) -> str:
    """A path in capitals, with `_` between its words, whether or not that is a valid variable name."""
    return "_".join(map(_in_capitals, path))


def json_key(key: str) -> str:
    """A key in JSON, which begins with a lowercase letter: `loadBalancerArn`."""
    return key[:1].lower() + key[1:]


def _in_capitals(component: str) -> str:
    """`LoadBalancerArn` and `KMSKeyId` as `LOAD_BALANCER_ARN` and `KMS_KEY_ID`."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", _WORD_ENDS.sub("_", component))
    return words.strip("_").upper()
