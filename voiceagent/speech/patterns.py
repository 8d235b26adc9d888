"""How machines write what every language says alike: character by character."""

_HEX = r"[0-9a-fA-F]"
ADDRESS_4 = r"(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)"
"""192.168.0.1 (RFC 791)."""
ADDRESS_6 = (
    rf"(?<![A-Za-z0-9_:.])(?:(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}"
    rf"|(?=[0-9A-Za-z:]*\d)(?:{_HEX}{{1,4}}(?::{_HEX}{{1,4}})*)?::"
    rf"(?:{_HEX}{{1,4}}(?::{_HEX}{{1,4}})*)?)(?![A-Za-z0-9_:])"
)
"""fe80::1 (RFC 4291); without a digit it is rather a name of C++."""
HARDWARE_ADDRESS = (
    rf"(?<![A-Za-z0-9_:-]){_HEX}{{2}}(?P<sep>[-:]){_HEX}{{2}}(?:(?P=sep){_HEX}{{2}}){{4}}"
    r"(?![A-Za-z0-9_:-])"
)
"""00:1A:2B:3C:4D:5E."""
UUID = rf"(?<![A-Za-z0-9_-]){_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}(?![A-Za-z0-9_-])"
"""550e8400-e29b-41d4-a716-446655440000 (RFC 9562)."""
HASH = (
    r"(?<![A-Za-z0-9_#.-])(?!\d+e\d+\b)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}"
    r"(?![A-Za-z0-9_-]|\.\d)"
)
"""The name of a commit; at least one letter and one digit."""
CARD = (
    r"(?<![A-Za-z0-9_.-])\d{4}(?P<gap>[ -])\d{4}(?:(?P=gap)\d{4})+(?:(?P=gap)\d{1,3})?"
    r"(?![A-Za-z0-9_-])"
    r"|(?<![A-Za-z0-9_.-])3[47]\d\d(?P<amex>[ -])\d{6}(?P=amex)\d{5}(?![A-Za-z0-9_-])"
)
"""4111 1111 1111 1111: at least three groups of four, or as American Express writes it."""
PATH = (
    r"(?<![A-Za-z0-9_./\\])(?:(?:~|\.{1,2})(?=[/\\])|[A-Za-z]:(?=\\))(?:[/\\][A-Za-z0-9_.*-]*)+"
    r"|(?<![A-Za-z0-9_/.:<~\\])/(?:[A-Za-z0-9_.*-]+/)+[A-Za-z0-9_.*-]*"
)
"""~/.bashrc, ../a/b, C:\\Users, /etc/hosts."""
