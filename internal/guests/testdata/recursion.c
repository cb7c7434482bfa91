// Recursion: queens on a board, and Ackermann's function, whose stack grows
// and shrinks all the time.
#include <stdio.h>

static long calls;

static int queens(int n, int row, unsigned cols, unsigned left, unsigned right) {
    calls++;
    if (row == n) return 1;
    int found = 0;
    for (unsigned free = ~(cols | left | right) & ((1u << n) - 1); free; free &= free - 1) {
        unsigned bit = free & -free;
        found += queens(n, row + 1, cols | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

static int ackermann(int m, int n) {
    calls++;
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

int main(void) {
    for (int n = 4; n <= 10; n++) printf("queens %d: %d\n", n, queens(n, 0, 0, 0, 0));
    for (int n = 1; n <= 8; n++) printf("ackermann 3 %d: %d\n", n, ackermann(3, n));
    printf("calls %ld\n", calls);
    return ackermann(3, 8) == 2045 && queens(10, 0, 0, 0, 0) == 724 ? 0 : 1;
}
