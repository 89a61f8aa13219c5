"""Objects that are looked up in an account and region by their tags, while a template is made or in a script."""

from strongref_objects.lookups.by_tags import LookupEnvironment, lookup, lookup_vpc

__all__ = ["LookupEnvironment", "lookup", "lookup_vpc"]
