"""From a physical id, as CloudFormation knows it, to the primary identifier by which Cloud Control knows a resource."""
