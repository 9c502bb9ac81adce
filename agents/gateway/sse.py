"""Server-sent events from bytes to payloads. Pure.

Lines end at CR, LF or CRLF and nowhere else: a separator like U+2028 inside a JSON string is text.
Cutting happens on bytes, so a character that two reads share is never torn.
"""

from audit.limits import limit

MAX_LINE_BYTES = limit(
    "model.event",
    4 * 1024 * 1024,
    "bytes",
    "Longest single event a model server may send.",
)
MAX_STRAY_BYTES = 64 * 1024
END_MARK = b"[DONE]"
_OTHER_FIELDS = (b"id:", b"retry:")
_BOM = b"\xef\xbb\xbf"


class EventTooLong(Exception):
    """The server sent more than `MAX_LINE_BYTES` without ending an event."""


class EventReader:
    """Collects the payloads of one event stream, tolerant of everything that is no payload.

    A data line that is a JSON object by its looks counts at once, so a server that forgets the
    blank lines is still understood; other data lines are joined until their event ends, as the
    standard says. Before any data line a bare JSON object counts too. `errors` holds the payloads
    of events named `error`; `strays` counts lines that belong to no event stream, `stray_text`
    keeps the first of them: it may be one JSON text.
    """

    def __init__(self) -> None:
        self.errors: list[bytes] = []
        self.strays = 0
        self._has_data = False
        self.stray_text = bytearray()
        self._parts: list[bytes] = []
        self._parts_bytes = 0
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._error_event = False
        self._after_cr = False
        self._started = False
        self._between_events = False

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that `data` completes. Raises `EventTooLong`."""
        if (
            # By far the most reads bring exactly one event.
            self._between_events
            and data[:7] == b"data: {"
            and data[-3:] == b"}\n\n"
            and data.find(b"\n") == len(data) - 2
            and b"\r" not in data
        ):
            return [data[6:-2]]
        if self._after_cr or b"\r" in data:
            data = self._plain_line_ends(data)
        *lines, rest = data.split(b"\n")
        if lines and self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
            self._parts.clear()
            self._parts_bytes = 0
        if rest:
            self._parts.append(rest)
            self._parts_bytes += len(rest)
            if self._parts_bytes > MAX_LINE_BYTES:
                raise EventTooLong
        payloads = self._read(lines)
        self._between_events = self._started and not (
            self._parts or self._data or self._error_event or self._after_cr
        )
        return payloads

    def close(self) -> list[bytes]:
        """What is left when the body ends: servers forget the last line end."""
        lines = [b"".join(self._parts), b""] if self._parts else [b""]
        self._parts.clear()
        return self._read(lines)

    def _plain_line_ends(self, data: bytes) -> bytes:
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r") if data else False
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _read(self, lines: list[bytes]) -> list[bytes]:
        payloads: list[bytes] = []
        for line in lines:
            if not self._started and line:
                self._started = True
                line = line.removeprefix(_BOM)
            if line[:5] == b"data:":
                self._has_data = True
                payload = line[6:] if line[5:6] == b" " else line[5:]
                if self._data or self._error_event or payload[:1] != b"{" or payload[-1:] != b"}":
                    self._hold(payload, payloads)
                else:
                    payloads.append(payload)
            elif not line:
                if self._data:
                    self._end_event(payloads)
                self._error_event = False
            elif line[:6] == b"event:":
                self._error_event = line[6:].strip() == b"error"
            elif not self._has_data and line[:1] == b"{" and line[-1:] == b"}":
                payloads.append(line)  # JSON lines, from a server that forgets the framing
            elif line[:1] != b":" and not line.startswith(_OTHER_FIELDS):
                self.strays += 1
                if len(self.stray_text) < MAX_STRAY_BYTES:
                    self.stray_text += line + b"\n"
        return payloads

    def _hold(self, payload: bytes, payloads: list[bytes]) -> None:
        if payload.strip() == END_MARK:
            # Nothing follows it, perhaps not even the blank line.
            if self._data:
                self._end_event(payloads)
            payloads.append(END_MARK)
            return
        self._data.append(payload)
        self._data_bytes += len(payload)
        if self._data_bytes > MAX_LINE_BYTES:
            raise EventTooLong

    def _end_event(self, payloads: list[bytes]) -> None:
        joined = b"\n".join(self._data)
        self._data.clear()
        self._data_bytes = 0
        (self.errors if self._error_event else payloads).append(joined)
