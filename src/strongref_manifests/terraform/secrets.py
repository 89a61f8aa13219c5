"""What in a Terraform state file is called like a secret. Pure.

A state file marks what a configuration made sensitive, but not always what a provider's schema declares to be, as
`aws_db_instance`'s password is (Terraform: pull request 33076). Names are all that is left to go by.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref.arns import is_arn
from strongref_toolkit.json_values import Json, Path, texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIKE_A_SECRET = re.compile(
    r"(?:.*_)?(?:"
    r"(?:password|passwd|passphrase|pass_phrase|pwd)s?(?:_(?:hash|sha256|sha512|bcrypt|v4|wo))?"
    r"|secrets?(?:_(?:keys?|strings?|binary|data|values?|base64|wo))?"
    r"|(?:\w*_)?tokens?|api_?keys?|\w*access_?keys?|private_?key(?:_.*)?|secret_?access_?keys?"
    r"|\w*connection_?strings?|credentials?(?:_json)?|kube_?config(?:_raw|s)?|kube_admin_config(?:_raw)?"
    r")(?:_(?:pem|openssh|base64))?"
)
"""Of names in lower case, with underscores between their words."""

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-. ]+")

_OF_TYPES = {
    "aws_api_gateway_api_key": {"value"},
    "aws_appsync_api_key": {"key"},
    "aws_ecr_authorization_token": {"authorization_token", "password"},
    "aws_kms_secrets": {"plaintext"},
    "aws_ssm_parameter": {"value"},
    "aws_ssm_parameters_by_path": {"values"},
    "azurerm_key_vault_secret": {"value"},
    "kubernetes_secret": {"data", "binary_data"},
    "kubernetes_secret_v1": {"data", "binary_data"},
    "local_sensitive_file": {"content", "content_base64"},
    "random_password": {"result", "bcrypt_hash"},
    "vault_generic_secret": {"data", "data_json"},
    "vault_kv_secret_v2": {"data", "data_json"},
}

_OTHERWISE = frozenset({"http_tokens", "token_validity_units"})
"""Names of settings: whether requests need a token (EC2), and how long tokens are valid (Cognito)."""


def secrets_in(type_name: str, attributes: Json, above: Path = ()) -> Iterator[Path]:
    """The paths of what is called like a secret in a resource's attributes, or in the part that `above` leads to."""
    if isinstance(attributes, dict):
        for name, value in attributes.items():
            path = (*above, name)
            if not value or name in _OTHERWISE:
                continue
            if not above and name in _OF_TYPES.get(type_name, ()):
                yield path
            elif isinstance(value, str | list | dict) and _LIKE_A_SECRET.fullmatch(_WORD.sub("_", name).lower()):
                texts = [(each, text) for each, text in texts_in(value, path) if text]
                others = [each for each, text in texts if not is_arn(text)]  # An ARN only says where a secret is.
                yield from others if len(others) < len(texts) else [path]
            else:
                yield from secrets_in(type_name, value, path)
    elif isinstance(attributes, list):
        for number, value in enumerate(attributes):
            yield from secrets_in(type_name, value, (*above, number))
