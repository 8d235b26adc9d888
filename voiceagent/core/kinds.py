"""What a commit is, in the words of the wire."""

from enum import StrEnum


class Kind(StrEnum):
    """What ended a commit, or what the commit is. The values travel in ``commit`` frames."""

    CLAUSE = "clause"
    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    """A line that stands for itself: heading, list item, the end of a paragraph."""
    BLOCK = "block"
    """Fenced code, table, display maths, shown or said as a whole."""
    VALUE = "value"
    """A JSON value that is complete."""
    STATEMENT = "statement"
    """A statement of code that is complete."""
    END = "end"
    """The tail of a reply."""
    SILENT = "silent"
    """Not for the ear: nothing is synthesized of it."""
