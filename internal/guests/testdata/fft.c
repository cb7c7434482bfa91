// Floating point in arrays: a fast Fourier transform there and back.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 13, ROUNDS = 24 };

static void fft(double complex *x, int n, int sign) {
    if (n == 1) return;
    double complex *even = malloc(n * sizeof *even), *odd = even + n / 2;
    for (int i = 0; i < n / 2; i++) even[i] = x[2 * i], odd[i] = x[2 * i + 1];
    fft(even, n / 2, sign);
    fft(odd, n / 2, sign);
    for (int i = 0; i < n / 2; i++) {
        double angle = sign * 2 * acos(-1) * i / n;
        double complex w = CMPLX(cos(angle), sin(angle)) * odd[i];
        x[i] = even[i] + w;
        x[i + n / 2] = even[i] - w;
    }
    free(even);
}

int main(void) {
    static double complex x[N], before[N];
    for (int i = 0; i < N; i++) x[i] = before[i] = CMPLX(sin(i * 0.01) + i % 7, cosf(i * 0.1f));
    double worst = 0;
    for (int r = 0; r < ROUNDS; r++) {
        fft(x, N, -1);
        printf("%2d: %.15g %.15g\n", r, creal(x[r + 1]), cimag(x[N / 2 + r]));
        fft(x, N, 1);
        for (int i = 0; i < N; i++) x[i] /= N;
    }
    for (int i = 0; i < N; i++) worst = fmax(worst, cabs(x[i] - before[i]));
    printf("largest error %.3g\n", worst);
    return worst < 1e-9 ? 0 : 1;
}
