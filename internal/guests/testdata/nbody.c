// Floating point: a planet system made up for this test, and the values whose
// bits machines disagree on.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 6, STEPS = 60000 };
static double pos[N][3], vel[N][3], mass[N];

static uint64_t bits(double x) { uint64_t b; memcpy(&b, &x, sizeof b); return b; }

static double energy(void) {
    double e = 0;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++) e += mass[i] * vel[i][k] * vel[i][k] / 2;
        for (int j = i + 1; j < N; j++) {
            double d2 = 0;
            for (int k = 0; k < 3; k++) d2 += (pos[i][k] - pos[j][k]) * (pos[i][k] - pos[j][k]);
            e -= mass[i] * mass[j] / sqrt(d2);
        }
    }
    return e;
}

static void step(double dt) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (i == j) continue;
            double d[3], d2 = 1e-9;
            for (int k = 0; k < 3; k++) d[k] = pos[j][k] - pos[i][k], d2 += d[k] * d[k];
            double f = mass[j] / (d2 * sqrt(d2)) * dt;
            for (int k = 0; k < 3; k++) vel[i][k] += d[k] * f;
        }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) pos[i][k] += vel[i][k] * dt;
}

int main(void) {
    mass[0] = 40;
    for (int i = 1; i < N; i++) {
        double r = 1.5 * i, a = i * 1.1;
        mass[i] = 0.01 / i;
        pos[i][0] = r * cos(a), pos[i][1] = r * sin(a), pos[i][2] = 0.05 * sin(3 * a);
        vel[i][0] = -sqrt(40 / r) * sin(a), vel[i][1] = sqrt(40 / r) * cos(a);
    }
    printf("energy %.17g\n", energy());
    for (int s = 1; s <= STEPS; s++) {
        step(0.0005);
        if (s % (STEPS / 10) == 0) printf("%6d: %.17g %a\n", s, energy(), pos[1][0]);
    }
    // Results that have no value: their sign and payload are the machine's.
    volatile double zero = 0, huge = HUGE_VAL, minus = -1;
    double odd[] = {zero / zero, huge - huge, sqrt(minus), huge * zero, -(zero / zero), fmod(1, zero), (float)(zero / zero)};
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++) printf("%016llx %d\n", (unsigned long long)bits(odd[i]), odd[i] == odd[i]);
    return 0;
}
