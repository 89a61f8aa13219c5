"""`strongref resolve` and `refs`: reading, printing and writing; the work is done by `strongref_manifests`."""
