"""Objects that are exported and imported whole: what they are, and the channels that carry them."""
