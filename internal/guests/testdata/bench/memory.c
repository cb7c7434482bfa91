// A memory full of noise, of which a fixed part is written again and again:
// memory MIB PERMILLE TURNS.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = 88172645463325252ull;
static uint64_t rnd(void) { seed ^= seed << 13; seed ^= seed >> 7; return seed ^= seed << 17; }

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    enum { PAGE = 65536 };
    size_t size = (size_t)atoi(argv[1]) << 20, pages = size / PAGE;
    size_t part = pages * atoi(argv[2]) / 1000, turns = atoi(argv[3]);
    // On page boundaries, so that a page here is one of the checkpoint's.
    unsigned char *m = aligned_alloc(PAGE, size);
    if (!m) return 1;
    for (size_t i = 0; i < size; i += 8) *(uint64_t *)(m + i) = rnd();
    uint64_t sum = 0;
    for (size_t t = 0; t < turns; t++)
        for (size_t p = 0; p < part; p++)
            for (int i = 0; i < PAGE; i += 4096) sum = sum * 31 + m[p * (pages / part) * PAGE + i]++;
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}
