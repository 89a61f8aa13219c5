"""`Transform: StrongRef`: the same references in CloudFormation templates, made resources of this suite."""
