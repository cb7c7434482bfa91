// Large memory: 512 MiB, of which a few pages here and there are used.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDE = 1 << 20, TOUCHES = 600000 };
static const size_t SIZE = 512u << 20;

int main(void) {
    unsigned char *m = malloc(SIZE);
    if (!m) return puts("wrong: no memory"), 1;
    for (size_t i = 0; i < SIZE; i += STRIDE) m[i + i / STRIDE % 4096] = 1 + i / STRIDE % 255;
    uint64_t at = 1, sum = 0;
    for (int i = 0; i < TOUCHES; i++) {
        at = at * 6364136223846793005ull + 1442695040888963407ull;
        // Most of them fall into a few places, as a program's do.
        size_t p = (i % 10000 ? (at >> 40) % (4u << 20) : (at >> 20) % SIZE);
        sum = sum * 31 + m[p];
        m[p] += i;
        if (i % 60000 == 0) printf("%6d: %016llx at %zu\n", i, (unsigned long long)sum, p);
    }
    memmove(m + SIZE / 2, m, 3 << 20);
    for (size_t i = 0; i < SIZE; i += STRIDE) sum = sum * 131 + m[i + i / STRIDE % 4096];
    unsigned char *more = realloc(m, SIZE + (100u << 20)); // the limit allows it or not, the same everywhere
    printf("%016llx, %s\n", (unsigned long long)sum, more ? "grew" : "did not grow");
    return 0;
}
