"""Values for manifests: what stands for something that only a deployment knows is replaced by what it is."""
