"""Reference fields: `securityGroupRefs: [{from: {name: web}}]` in a manifest, as ACK controllers have them."""
