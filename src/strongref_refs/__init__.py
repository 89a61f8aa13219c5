"""Reference fields: `securityGroupRefs: [{from: {name: web}}]` in a manifest, as ACK controllers have them.

In this order:

1. `config.load` reads each generator.yaml: the kinds with their reference fields.
2. `resolution.Resolver(kinds, objects, values)` is made of them, and of where objects and stacks' values are read.
3. `Resolver.resolve(manifest)`, for each object: validates all its fields, reads what they refer to, and answers with
   the edits that resolve it, or with all problems; and with the condition that ACK's controllers would set.
4. `manifests_writing.rewritten` makes those edits in the text of manifests; all else in it stays.
"""
