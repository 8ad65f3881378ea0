"""Where the records of a CSV file end, by a machine that reads one sign after the other."""

from __future__ import annotations


def machine(text: bytes, ends: str = "\r\n") -> list[tuple[int, int]]:
    """For each record, where it ends and how many cells it has; one without its line end is none yet."""
    state, found, cells = "start", [], 0
    for i, sign in enumerate(text.decode("latin-1"), start=1):
        sign = " " if state != "quoted" and sign == "\r" and sign not in ends else sign
        if state != "quoted" and sign in ends:
            if cells:
                found.append((i, cells))
            state, cells = "start", 0
            continue
        cells = cells or 1
        if state == "quoted":
            state = "closed" if sign == '"' else "quoted"
        elif sign == ",":
            state, cells = "start", cells + 1
        elif state == "closed":
            state = "quoted" if sign == '"' else "closed"
        elif state in ("start", "space") and sign == '"':
            state = "quoted"
        else:
            state = "space" if state == "start" and sign == " " else "plain"
    return found
