"""Manifests whose tokens are replaced by the values that only a deployment knows.

The modules here are the lowest ones: `tokens` (what a token is, and the `TokenSource` of a scheme), `errors`,
`leftovers` (what a strict run refuses), and `manifest_set` (claims for a manifest set).

1. `text` reads YAML and JSON into trees of nodes that know their place in the text, and applies edits to it. Manifests
   and CloudFormation templates are thin layers on top.
2. `sources` and `terraform` fetch the values, one source for each scheme.
3. `resolution` wires the sources, finds the files, and resolves all values of a run.

Nothing is public: use the command `strongref`, or `strongref_cdk8s`.
"""

__all__: list[str] = []
