"""Installs the suite in an account's regions, shows what is installed, and takes it away again.

An installation passes these stages, all but the first side by side for each region:

    stage    module                input                                output
    load     suite or release      pip's environment, or a folder       `Suite`: template, code, layer
    find     installed             CloudFormation                       `Found`: the stack as it is, or none
    plan     plan                  `Found`, `Wanted`                    `InstallPlan`: what to do, or why not
    store    bucket                `Suite`                              zip files in the region's bucket
    apply    apply                 `InstallPlan`                        a change set, executed; an `Outcome`

`plan`, `removal`, `reports` and `packaging` are pure. `stacks` and `bucket` make every AWS call.
`release` is both sides of a release's folder: tools/release.py writes it with the same functions.
A dry run is the same without `store` and `apply`. `removal` says whether anything in the region
still needs the functions, in all regions before the first one is changed.

`trust` deploys the stack of trust.yaml with the same `plan` and `apply`.
"""
