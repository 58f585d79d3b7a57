"""Language models on this machine: download (`download`), store (`model_dir`) and serve them.

`model` starts a process (`process`, `serve`) and asks it like any other model server.
"""
