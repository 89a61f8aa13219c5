"""`Transform: StrongRef`: the same references in CloudFormation templates, made resources of this suite.

In this order, and all of it pure, from a template as plain data (JSON's types, functions in their long forms):

1. `walking.find` goes through the template and finds every reference and every `Exports`, or all that is wrong.
2. `exporting.parts` reads what each resource exports, `merging.exports` puts that together into Exports, by target.
   `grouping.imports` puts references together into Imports, by producer and by condition, `splitting.split` sees that
   the answer of each stays within CloudFormation's limit.
3. `transform.plan` makes a `base.Plan` of it: what is replaced, taken out and added, and where.
4. `base.Plan.apply` does that to plain data; `strongref transform` does the same to the text of a file.

`answering.answer` is what CloudFormation calls, and `permissions` tells what a template needs.
"""
