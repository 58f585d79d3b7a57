"""The four programs that the service runs in. They parse, call and show; they decide nothing."""
