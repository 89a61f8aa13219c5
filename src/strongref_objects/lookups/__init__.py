"""Objects that are looked up in an account and region by their tags, while a template is made or in a script."""

from strongref_objects.lookups.by_tags import LookupEnvironment as LookupEnvironment
from strongref_objects.lookups.by_tags import lookup as lookup
from strongref_objects.lookups.by_tags import lookup_vpc as lookup_vpc
