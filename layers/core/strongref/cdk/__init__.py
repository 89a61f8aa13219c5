"""Objects of `aws_cdk` apps, exported and imported whole. It needs `pip install strongref[cdk]`."""
