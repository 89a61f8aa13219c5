"""Resolvers for cdk8s apps: `cdk8s.App(resolvers=[AwsCdkResolver()])` writes what tokens of other CDKs stand for.

    AwsCdkResolver  tokens of the AWS CDK, by CloudFormation's outputs
    CdkTfResolver   tokens of the CDK for Terraform, by Terraform's states
    TokenResolver   `${cfn:…}` and its like, as `strongref resolve` knows them

Each is imported with what it needs: an app without Terraform needs no cdktf.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref_cdk8s.awscdk import AwsCdkResolver
    from strongref_cdk8s.cdktf import CdkTfResolver
    from strongref_cdk8s.tokens import TokenResolver

__all__ = ["AwsCdkResolver", "CdkTfResolver", "TokenResolver"]

_MODULES = {"AwsCdkResolver": "awscdk", "CdkTfResolver": "cdktf", "TokenResolver": "tokens"}
_INSTALL = {
    "cdk8s": "pip install strongref[cdk8s]",
    "jsii": "pip install strongref[cdk8s]",
    "constructs": "pip install strongref[cdk8s]",
    "aws_cdk": "pip install aws-cdk-lib",
    "cdktf": "pip install cdktf",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in _INSTALL:
            raise
        missing = error.name
    except AttributeError as error:  # Python would tell an import that there is no such name here.
        raise ImportError(f"{__name__}.{name}: {error}. Is one of cdk8s and the CDKs too old?") from error
    raise ImportError(f"{__name__}.{name} needs {missing}, which is not installed: {_INSTALL[missing]}", name=missing)
