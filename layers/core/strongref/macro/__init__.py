"""`Transform: StrongRef`: references in CloudFormation templates, transformed into resources of strongref.

All of it is pure, from a template as plain data (JSON's types, functions in their long forms), in this order:

1. `scan.scan` finds every reference and every `Exports` of a template, and all of their problems.
2. `export_properties.export_parts` reads what each resource exports, and `exports.exports` merges that by target.
   `exports.hold_outputs` adds the output of each Export's hold. `imports.imports` groups references by producer and by
   condition, within CloudFormation's limit for a response.
3. `cdk.cdk_references` finds what the CDK writes and reads across regions: more parts of Exports, and more values of
   Imports. `cdk_edits.cdk_edits` says what becomes of the CDK's resources.
4. `transform.plan` makes `edits.TemplateEdits` of it: what is replaced, removed and added, and where.
5. `TemplateEdits.apply` edits plain data; `strongref transform` applies the same edits to the text of a file.

CloudFormation calls `event.transform_event`.
"""
