"""`strongref check`: what a deployment would do to a stack's exports, before it begins.

`reading` asks AWS for everything, and each of the other modules is a pure step: `expansion` and `evaluation` make a
`version.StackVersion` of a template and its parameters, `comparison` says what stays the same between two of them,
`wanted` what each Export would publish, `prediction` and `deletion` what would happen, and `command` shows it.
The refusals are the exporter's own: the same plans are made from the same stored exports, by the same functions.
"""
