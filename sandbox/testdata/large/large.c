// Fills 64 MiB with what does not compress, then changes ten pages of it over
// and over.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { size = 64 << 20, page = 64 << 10 };

int main(int argc, char **argv) {
    int turns = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t x = 88172645463325252ull, *p = malloc(size);
    if (!p) return 1;
    for (int i = 0; i < size / 8; i++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        p[i] = x;
    }
    for (int t = 0; t < turns; t++)
        for (int k = 0; k < 10; k++) {
            uint64_t *q = p + k * 50 * (page / 8);
            for (int i = 0; i < page / 8; i++) q[i] = q[i] * 6364136223846793005ull + t;
        }
    for (int i = 0; i < size / 8; i++) x = x * 31 + p[i];
    printf("%llu\n", (unsigned long long)x);
    return 0;
}
