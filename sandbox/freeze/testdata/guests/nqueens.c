// N queens by recursion with bit masks.
#include <stdio.h>
#include <stdlib.h>

static unsigned all;

static unsigned long solve(unsigned cols, unsigned left, unsigned right) {
    unsigned long found = 0;
    if (cols == all) return 1;
    for (unsigned free = all & ~(cols | left | right); free; free &= free - 1) {
        unsigned bit = free & -free;
        found += solve(cols | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8;
    all = (1u << n) - 1;
    printf("%d queens: %lu\n", n, solve(0, 0, 0));
    return 0;
}
