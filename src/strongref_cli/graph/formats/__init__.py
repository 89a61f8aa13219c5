"""A graph and an order as text: diagrams, JSON, and a page of HTML. Pure."""
