"""A language model of one's own: files that can be downloaded, and a process that serves one.

`catalogue` knows what is recommended, `hub` and `download` bring it here, `model_dir` keeps it,
`server` starts the process that serves it (`serve`), and `model` asks it like any other model.
"""
