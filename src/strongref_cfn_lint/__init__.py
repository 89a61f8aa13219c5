"""Rules for `cfn-lint --append-rules strongref_cfn_lint`. Nothing is public but this name."""

from strongref_cfn_lint.rules import MacroRule, PropertiesRule  # noqa: F401 (cfn-lint looks for them here)

__all__: list[str] = []
