"""What stops a start, in words for the person at the keyboard."""

import errno


class StartRefused(Exception):
    """Kaizen cannot start: what is wrong and what to do, neither with a secret in it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}\n{self.remedy}"


NO_SPACE_WORDS = ("No space left on device", "Disk quota exceeded")


def out_of_space(text: str) -> bool:
    """Whether a program's words say that its disk is full."""
    return any(words in text for words in NO_SPACE_WORDS)


def disk_full(place: object) -> StartRefused:
    """The refusal for a full disk."""
    return StartRefused(
        f"The disk that holds {place} is full.",
        "Free some space (Kaizen wants at least 256 MiB there),"
        " or set KAIZEN_HOME to a folder on another disk.",
    )


def from_os_error(fault: OSError, place: object) -> StartRefused:
    """The refusal for a file operation that failed while preparing `place`."""
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(place)
    return StartRefused(
        f"Cannot prepare {fault.filename or place}: {fault.strerror}.",
        "Make that folder writable for this user, or set KAIZEN_HOME to a folder that is.",
    )
