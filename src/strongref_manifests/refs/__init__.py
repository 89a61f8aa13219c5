"""Reference fields: `securityGroupRefs: [{from: {name: web}}]` in a manifest, as for ACK's controllers.

1. `config.load` reads each generator.yaml: the kinds with their reference fields.
2. `resolution.ReferenceResolver(kinds, objects, values)` gets them, and the sources of objects and of stacks' values.
3. `ReferenceResolver.resolve(manifest)` validates all fields of one object (`validation`), reads what they refer to
   (`manifests`, `cluster`, `stacks`), and returns the edits that resolve it, or all problems; and ACK's condition.
4. `manifests_writing.rewritten` makes those edits in the text of manifests and changes nothing else.
"""
