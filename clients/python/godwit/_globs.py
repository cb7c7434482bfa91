"""Patterns of file names, as the node has them: task.MatchFile. Each is matched in time of its length times the name's."""

from __future__ import annotations

from functools import lru_cache
from typing import List, Optional, Sequence, Tuple

Ranges = Tuple[Tuple[str, str], ...]
Token = Tuple[str, bool, Ranges]  # what it is, whether it matches all but its ranges, its ranges

_STAR: Token = ("*", False, ())
_ANY: Token = ("?", False, ())


def matches(pattern: Sequence[str], name: Sequence[str]) -> bool:
    """Reports whether a pattern of files matches a name, both by components.

    ** stands for any number of directories. What begins with a dot is matched only by a component that does. A pattern
    that is not valid matches nothing.
    """
    back, at = -1, 0  # of the last **: its place, and where the name goes on after it
    p = n = 0
    while n < len(name):
        if p < len(pattern) and pattern[p] == "**":
            back, at = p, n
            p += 1
            continue
        ends_alike = (n == len(name) - 1) == (p == len(pattern) - 1)
        if p < len(pattern) and ends_alike and _matches_component(pattern[p], name[n]):
            p, n = p + 1, n + 1
            continue
        if back < 0 or name[at].startswith("."):
            return False
        at += 1
        p, n = back + 1, at
    return p == len(pattern)


def _matches_component(pattern: str, name: str) -> bool:
    if name.startswith(".") and not pattern.startswith("."):
        return False
    tokens = _parse(pattern)
    return tokens is not None and _matches_tokens(tokens, name)


def _matches_tokens(tokens: Sequence[Token], name: str) -> bool:
    """Goes on after the last * with one character more whenever what follows it does not match: an earlier * need not be
    tried again."""
    back, at = -1, 0  # of the last *: its place, and where the name goes on after it
    t = n = 0
    while n < len(name):
        if t < len(tokens) and tokens[t] is _STAR:
            back, at = t, n
            t += 1
        elif t < len(tokens) and _matches_character(tokens[t], name[n]):
            t, n = t + 1, n + 1
        elif back < 0:
            return False
        else:
            at += 1
            t, n = back + 1, at
    return all(token is _STAR for token in tokens[t:])


def _matches_character(token: Token, c: str) -> bool:
    kind, negated, ranges = token
    return kind == "?" or any(low <= c <= high for low, high in ranges) != negated


@lru_cache(maxsize=256)
def _parse(pattern: str) -> Optional[Tuple[Token, ...]]:
    """Reads a component: *, ?, [a-z], [^a-z], and a backslash before a character. Returns None for what is not valid."""
    out: List[Token] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        i += 1
        if c == "*":
            out.append(_STAR)
        elif c == "?":
            out.append(_ANY)
        elif c == "[":
            negated = pattern[i:i + 1] == "^"
            found = _ranges(pattern, i + negated)
            if found is None:
                return None
            ranges, i = found
            out.append(("[", negated, ranges))
        else:
            if c == "\\":
                if i == len(pattern):
                    return None
                c = pattern[i]
                i += 1
            out.append(("c", False, ((c, c),)))
    return tuple(out)


def _ranges(pattern: str, i: int) -> Optional[Tuple[Ranges, int]]:
    """Reads the ranges of a set up to its bracket, and returns them with where the pattern goes on."""
    out: List[Tuple[str, str]] = []
    while not (out and pattern[i:i + 1] == "]"):
        low = _bound(pattern, i)
        if low is None:
            return None
        first, i = low
        last = first
        if pattern[i] == "-":
            high = _bound(pattern, i + 1)
            if high is None:
                return None
            last, i = high
        out.append((first, last))
    return tuple(out), i + 1


def _bound(pattern: str, i: int) -> Optional[Tuple[str, int]]:
    """Reads a bound of a range, which is followed by something."""
    if pattern[i:i + 1] in ("", "-", "]"):
        return None
    if pattern[i] == "\\":
        i += 1
    if i + 1 >= len(pattern):
        return None
    return pattern[i], i + 1
