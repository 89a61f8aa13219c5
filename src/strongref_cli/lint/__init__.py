"""Rules for `cfn-lint --append-rules strongref_cli.lint`. Nothing is public but this name."""

from strongref_cli.lint.rules import MacroRule, PropertiesRule  # noqa: F401 (cfn-lint looks for them here)

__all__: list[str] = []
