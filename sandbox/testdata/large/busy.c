// Writes to all of its memory, MIB of it, in strides, TURNS times over; a
// seventh of the pages is noise.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    size_t n = ((size_t)atoi(argv[1]) << 20) / 8, turns = atoi(argv[2]);
    uint64_t *p = malloc(n * 8), x = 88172645463325252ull;
    if (!p) return 1;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        p[i] = i / 8192 % 7 ? i : x;
    }
    for (size_t t = 0; t < turns; t++)
        for (size_t i = t % 511; i < n; i += 511) p[i] = p[i] * 6364136223846793005ull + t;
    for (size_t i = 0; i < n; i++) x = x * 31 + p[i];
    printf("%llu\n", (unsigned long long)x);
    return 0;
}
