// Vectors in the compiler's own notation, which is instructions of four lanes
// on every machine that has them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef float floats __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
enum { N = 4096 };
static floats a[N], b[N];
static words w[N];

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    for (int i = 0; i < N; i++) {
        a[i] = (floats){i, i * 0.5f, i * 0.25f, 1};
        b[i] = (floats){1, 2, 3, 4} / (floats){i + 1, i + 2, i + 3, i + 4};
        w[i] = (words){i, i * 3, i * 5, i * 7};
    }
    floats sum = {0};
    words hash = {1, 2, 3, 4};
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < N; i++) {
            a[i] = a[i] * 0.999f + b[i];
            sum += a[i];
        }
        for (int i = 0; i < N; i++) {
            hash = (hash ^ w[i]) * 16777619u;
            w[i] += hash >> 7;
        }
    }
    printf("%.9g %.9g %08x %08x\n", sum[0], sum[3], hash[0], hash[2]);
    return 0;
}
