"""Names for `Any`, where no type says what a value is: mypy checks nothing of it, so whatever uses it does."""

from typing import Any, TypeAlias

AnyJson: TypeAlias = Any
"""JSON of others: of a template, a response of AWS, a manifest, or a record. What has it may have anything in it."""

Untyped: TypeAlias = Any
"""What a library without types takes and returns, or makes at run time, as botocore does with its clients."""
