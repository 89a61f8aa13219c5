"""What looks like a token that nobody has resolved: for who wants to be sure that nothing is left. Pure.

The markers are those of the CDK and of the CDK for Terraform. They write a token as text (`${Token[TOKEN.12]}`), as the
only item of a list (`#{Token[…]}`) or key of a map (`&{TfToken[…]}`), or as a number whose two highest bytes say so
(aws-cdk-lib 2.275.0, core/lib/private/encoding.js; cdktf 0.21.0, lib/tokens/private/encoding.js).
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref.resolvers.base import Primitive

_CDK = "a token of the CDK"
_CDKTF = "a token of the CDK for Terraform"
_DYNAMIC = "a dynamic reference of CloudFormation"
_UNKNOWN = "a token"

_MARKS = (
    (re.compile(r"(?<!\$)[$#&]\{TfToken\[[^\]\n]*\]?\}?|(?<!\{)\bTfToken\[[^\]\n]*\]?"), _CDKTF),
    (re.compile(r"(?<!\$)[$#]\{Token\[[^\]\n]*\]?\}?"), _CDK),
    (re.compile(r"-1\.[0-9]{10,16}[eE]\+?289"), _CDK),
    (re.compile(r"-8\.[0-9]{10,16}[eE]\+?298"), _CDKTF),
    (re.compile(r"\{\{resolve:[^}]*(?:\}\})?"), _DYNAMIC),
)
_SHELL = re.compile(r"[#!]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:$|\[[^\]]*\]|:?[-=?+]|:\s*[0-9(-]|[#%/^,@])")
"""What a shell expands: a parameter, and what may follow its name (POSIX, Shell Command Language, 2.6.2; bash)."""
_BRACES = re.compile(r"(?<!\$)\$\{([^}\n]*)\}?")
_NUMBERS = {b"\xfb\xff": _CDK, b"\xfd\xff": _CDKTF}
"""The two highest bytes of an encoded number; the first are those of CDKTF's lists of numbers as well."""


def leftover(value: Primitive) -> tuple[str, str] | None:
    """What in a value looks like a token, and whose; None where nothing does.

    Given is what is left beside our own tokens, as it was written: what is escaped by `$${` is meant to stay, and what
    a shell would expand (`${HOME}`, `${PORT:-80}`) is no token. Anything else in `${…}` is taken for one.
    """
    if isinstance(value, float):
        marked = _NUMBERS.get(struct.pack(">d", value)[:2])
        return (repr(value), marked) if marked else None
    if not isinstance(value, str):
        return None
    for mark, of_whom in _MARKS:
        found = mark.search(value)
        if found:
            return found[0], of_whom
    for braces in _BRACES.finditer(value):
        if not _SHELL.match(braces[1]):
            return braces[0], _UNKNOWN
    return None
