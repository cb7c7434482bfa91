// Memory that fills, becomes zeros again in part, and grows: tides TURNS.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { piece = 1 << 20, most = 12 };

int main(int argc, char **argv) {
    int turns = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t x = 88172645463325252ull, sum = 0;
    unsigned char *m[most];
    for (int k = 0; k < most; k++) {
        if (!(m[k] = malloc(piece))) return 1;
        for (int t = 0; t < turns; t++)
            for (int i = 0; i < piece; i += 8) {
                x ^= x << 13; x ^= x >> 7; x ^= x << 17;
                *(uint64_t *)(m[k] + i) = x;
            }
        for (int j = 0; j <= k; j++)
            for (int i = 0; i < piece; i += 512) sum = sum * 31 + m[j][i];
        if (k % 2) memset(m[k - 1], 0, piece);
    }
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}
