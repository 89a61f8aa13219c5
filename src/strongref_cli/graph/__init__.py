"""`strongref graph` and `order`: all stacks and their references, drawn or put in an order."""
