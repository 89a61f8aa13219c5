"""A graph as text: diagrams, and a page of HTML. Pure."""
