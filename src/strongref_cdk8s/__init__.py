"""Resolvers for cdk8s apps: `cdk8s.App(resolvers=[AwsCdkResolver()])` writes the values of other CDKs' tokens.

    AwsCdkResolver  tokens of the AWS CDK, from CloudFormation outputs
    CdkTfResolver   tokens of the CDK for Terraform, from Terraform states
    TokenResolver   `${cfn:…}` and the other tokens of `strongref resolve`

Each is imported with its own dependencies: an app without Terraform does not need cdktf. Public are these three alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from strongref_toolkit.extras import missing_dependency

if TYPE_CHECKING:
    from strongref_cdk8s.awscdk import AwsCdkResolver
    from strongref_cdk8s.cdktf import CdkTfResolver
    from strongref_cdk8s.tokens import TokenResolver

__all__ = ["AwsCdkResolver", "CdkTfResolver", "TokenResolver"]

_MODULES = {"AwsCdkResolver": "awscdk", "CdkTfResolver": "cdktf", "TokenResolver": "tokens"}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        problem = missing_dependency(f"{__name__}.{name}", error, "cdk8s")
        if problem is None:
            raise
        raise ImportError(problem, name=error.name) from None
    except AttributeError as error:  # Python would say that this package has no such name.
        raise ImportError(f"{__name__}.{name}: {error}. Is cdk8s or the CDK too old?") from error
