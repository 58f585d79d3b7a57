"""What an exception means in plain words, for errors that no rule can repair."""

from __future__ import annotations

from .cell import FailingCell, Fix

_CONNECT = "Connect a model in the Cowork panel to have it looked at."
_MEANINGS = {
    "AssertionError": "An `assert` found something that is not as the code expects.",
    "AttributeError": "The object has nothing of that name.",
    "ConnectionError": "A server could not be reached. Check the address and the network.",
    "EmptyDataError": "The file has no data in it.",
    "FileExistsError": "There is a file of that name already.",
    "FloatingPointError": "A calculation left the range of numbers.",
    "ImportError": "Something could not be imported from that module.",
    "IndexError": "A place was asked for that is behind the end.",
    "JSONDecodeError": "The text is not valid JSON at the place that it names.",
    "KeyError": "There is no entry with that key.",
    "KeyboardInterrupt": "The cell was interrupted. Run it again when you are ready.",
    "LinAlgError": "The matrix cannot be used like that, for example because it has no inverse.",
    "MemoryError": "There is not enough memory. Take fewer rows or columns at once.",
    "ModuleNotFoundError": "The module is not installed in this kernel.",
    "NameError": "A name is used that is not defined.",
    "NotFittedError": "The model has to be trained with `fit` before it is used.",
    "NotImplementedError": "This is not supported there.",
    "OSError": "The operating system refused to read or write something.",
    "OverflowError": "A number has become too large.",
    "ParserError": "The file does not have the form that was expected. Look at its first lines, "
    "then set `sep`, `skiprows` or `quotechar`.",
    "PermissionError": "You may not read or write that file.",
    "RecursionError": "A function calls itself without end.",
    "RuntimeError": "The library found a state in which it cannot go on.",
    "StopIteration": "There is nothing more to take.",
    "TimeoutError": "It took too long to answer.",
    "TypeError": "A value has another type than this operation can use.",
    "UnicodeDecodeError": "The file is not in the encoding it was read with. Try "
    '`encoding="latin-1"` or `encoding="cp1252"`.',
    "ValueError": "A value has the right type, but cannot be used here.",
    "ZeroDivisionError": "Something was divided by 0.",
}


def meaning(cell: FailingCell) -> Fix:
    known = _MEANINGS.get(cell.error.name)
    said = " ".join(cell.message.split())[:200]
    where = f" in line {cell.line}" if cell.line else ""
    about = f"{known} " if known else ""
    message = f" It says: {said}." if said else ""
    return Fix(
        f"`{cell.error.name}`{where}: {about}{message.strip()} I do not know this one by rule. "
        f"{_CONNECT}".replace("  ", " ").replace("..", ".")
    )
