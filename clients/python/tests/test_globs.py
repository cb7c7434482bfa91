"""Patterns of files, held to the same vectors as the node. They need no node."""

import json
import random
import time
import unittest
from pathlib import Path
from typing import List

from godwit._globs import _matches_component, matches

VECTORS = Path(__file__).parents[3] / "task" / "testdata" / "globs.json"


class GlobTest(unittest.TestCase):
    """matches: what the node matches, in little time."""

    @unittest.skipUnless(VECTORS.exists(), "the vectors are in the project alone")
    def test_vectors(self) -> None:
        vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
        self.assertGreater(len(vectors["matches"]), 40)
        for pattern, want in vectors["matches"].items():
            got = [n for n in vectors["names"] if matches(pattern.split("/"), n.split("/"))]
            self.assertEqual(got, want, pattern)

    def test_twin(self) -> None:
        """A pattern matches what trying all ways finds."""
        def twin(p: List[str], n: List[str]) -> bool:
            if not p:
                return not n
            if p[0] == "**":
                return twin(p[1:], n) or bool(n) and not n[0].startswith(".") and twin(p, n[1:])
            return bool(n) and _matches_component(p[0], n[0]) and twin(p[1:], n[1:])

        draw = random.Random(1)
        for _ in range(20_000):
            pattern = draw.choices(["**", "*", "a", "?b", ".*"], k=draw.randint(0, 5)) + [draw.choice(["*", "a", "ab"])]
            name = draw.choices(["a", "ab", "b", ".a"], k=draw.randint(1, 7))
            self.assertEqual(matches(pattern, name), twin(pattern, name), (pattern, name))

    def test_hostile_patterns_take_little_time(self) -> None:
        """Each took from seconds to hours when all ways were tried."""
        begun = time.process_time()
        for pattern, name in ((["**"] * 10 + ["b"], ["a"] * 60), (["*a" * 60 + "*b"], ["a" * 255]),
                              (["**", "*a*"] * 8 + ["b"], ["aa"] * 60)):
            self.assertFalse(matches(pattern, name))
        self.assertLess(time.process_time() - begun, 5)


if __name__ == "__main__":
    unittest.main()
