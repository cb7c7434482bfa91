# What an interpreter is asked to do in ordinary programs: calls, objects,
# dictionaries, strings, floats, exceptions, big integers. The first argument
# says how much of it.
import json
import re
import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def sieve(n):
    composite = bytearray(n + 1)
    count = 0
    for i in range(2, n + 1):
        if not composite[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                composite[j] = 1
    return count


def words(n):
    seen, seed = {}, 7
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        word = f"w{seed // 65536 % 300:03d}"
        seen[word] = seen.get(word, 0) + 1
    return sorted(seen.items(), key=lambda p: (-p[1], p[0]))[:3]


class Body:
    def __init__(self):
        self.x, self.y, self.vx, self.vy = 1.0, 0.0, 0.0, 1.0

    def step(self, dt):
        r = (self.x * self.x + self.y * self.y) ** 1.5
        self.vx -= self.x / r * dt
        self.vy -= self.y / r * dt
        self.x += self.vx * dt
        self.y += self.vy * dt


def orbit(n):
    body = Body()
    for _ in range(n):
        body.step(0.001)
    return f"{body.x:.9f} {body.y:.9f}"


def rewrite(n):
    text = re.sub(r"[a-z]+", lambda m: m.group().upper(), "the quick brown fox " * n)
    return len(json.dumps(json.loads(json.dumps(text.split()))))


def caught(n):
    total = 0
    for i in range(n):
        try:
            total += 1 // (i % 3)
        except ZeroDivisionError as e:
            total += len(str(e))
        finally:
            total += 1
    return total


turns = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for turn in range(1, turns + 1):
    print(turn, fib(13 + turn % 3), sieve(3000 + turn), words(1000 + turn), orbit(1000), rewrite(50), caught(100), 3 ** (500 + turn) % 10**9)
