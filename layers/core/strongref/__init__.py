"""Strong references between CloudFormation stacks, across regions and accounts.

Decisions are pure and stand in `address`, `values`, `request`, `record`, `fence` and `plan`. AWS is called in
`store` (SSM) and `stacks` (CloudFormation) alone. `exports` and `imports` are the two use cases: read, plan, fence,
act. `resource` is the envelope between them and CloudFormation.
"""

__version__ = "0.1.0"
