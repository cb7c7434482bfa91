// Product of matrices in double precision.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 60, turns = argc > 2 ? atoi(argv[2]) : 2;
    double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), *c = malloc(n * n * sizeof *c), trace = 0;
    for (int i = 0; i < n * n; i++) a[i] = i % 17 * 0.5, b[i] = i % 13 * 0.25;
    for (int t = 0; t < turns; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
                c[i * n + j] = sum;
            }
        for (int i = 0; i < n; i++) trace += c[i * n + i], a[i] += c[i] * 1e-9;
    }
    printf("trace %.17g\n", trace);
    return 0;
}
