"""The imports that everybody writes, for code that uses their names without them."""

from __future__ import annotations

import ast

USUAL_IMPORTS = {
    "pd": "import pandas as pd",
    "np": "import numpy as np",
    "pl": "import polars as pl",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
}


def missing_imports(tree: ast.AST) -> list[str]:
    """Of the names that the code uses and does not define."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.alias)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    defined = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    defined |= {alias.asname or alias.name for alias in imported}
    return [line for name, line in USUAL_IMPORTS.items() if name in used - defined]
