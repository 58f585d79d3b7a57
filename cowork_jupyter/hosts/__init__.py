"""The four programs that host the service. They parse, call the service and show the result."""
