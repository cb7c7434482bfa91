// Sorting with callbacks of the C library: frames of ours lie below frames of
// qsort, which lie below frames of ours.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int key; char name[20]; double weight; } item;
enum { N = 6000 };
static long compared;
static unsigned seed = 12345;
static unsigned rnd(void) { return (seed = seed * 1664525 + 1013904223) >> 8; }

static int ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int digits(int key) { // sorts inside of a comparison
    int d[8], n = 0, sum = 0;
    for (; key; key /= 10) d[n++] = key % 10;
    qsort(d, n, sizeof *d, ints);
    for (int i = 0; i < n; i++) sum = sum * 10 + d[i];
    return sum;
}

static int by_digits(const void *a, const void *b) {
    compared++;
    const item *x = a, *y = b;
    int c = digits(x->key) - digits(y->key);
    return c ? c : strcmp(x->name, y->name);
}
static int by_name(const void *a, const void *b) { compared++; return strcmp(((item *)a)->name, ((item *)b)->name); }
static int by_weight(const void *a, const void *b) {
    double x = ((item *)a)->weight, y = ((item *)b)->weight;
    compared++;
    return x < y ? -1 : x > y ? 1 : by_name(a, b);
}

int main(void) {
    static item all[N];
    int (*orders[])(const void *, const void *) = {by_name, by_weight, by_digits};
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        all[i].key = rnd() % 1000000;
        snprintf(all[i].name, sizeof all[i].name, "%x-%d", rnd() % 65536, i);
        all[i].weight = rnd() / 3.0;
    }
    for (int o = 0; o < 3; o++) {
        qsort(all, N, sizeof *all, orders[o]);
        for (int i = 1; i < N; i++) wrong += orders[o](&all[i - 1], &all[i]) > 0;
        for (int i = 0; i < N; i += 97) wrong += bsearch(&all[i], all, N, sizeof *all, orders[o]) != &all[i];
        printf("%d: %s %d %.3f after %ld\n", o, all[0].name, all[N / 2].key, all[N - 1].weight, compared);
    }
    return wrong != 0;
}
