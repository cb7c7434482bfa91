// Sorting by callback, strings, heap, function pointers, text output.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct node { struct node *next; uint64_t key; char name[16]; } node;

static uint64_t seed = 88172645463325252ull;
static uint64_t rnd(void) { seed ^= seed << 13; seed ^= seed >> 7; return seed ^= seed << 17; }

static int by_key(const void *a, const void *b) {
    const node *x = *(node *const *)a, *y = *(node *const *)b;
    return x->key < y->key ? -1 : x->key > y->key;
}
static int by_name(const void *a, const void *b) { return strcmp((*(node *const *)a)->name, (*(node *const *)b)->name); }

static double half(double x) { return x / 2; }
static double twice(double x) { return x * 2 + 1; }

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 300, turns = argc > 2 ? atoi(argv[2]) : 3;
    int (*orders[])(const void *, const void *) = {by_key, by_name};
    double (*steps[])(double) = {half, twice};
    double x = 1;
    for (int t = 0; t < turns; t++) {
        node **all = malloc(n * sizeof *all), *list = 0;
        for (int i = 0; i < n; i++) {
            all[i] = malloc(sizeof **all);
            all[i]->key = rnd() % 100000;
            snprintf(all[i]->name, sizeof all[i]->name, "n%llu", (unsigned long long)(rnd() % 1000000));
        }
        qsort(all, n, sizeof *all, orders[t % 2]);
        for (int i = 0; i < n; i++) all[i]->next = list, list = all[i], x = steps[all[i]->key & 1](x);
        uint64_t sum = 0;
        for (node *p = list; p; p = p->next) sum = sum * 31 + p->key + strlen(p->name);
        printf("%d: %llu %.6f first %s\n", t, (unsigned long long)sum, x, all[0]->name);
        for (int i = 0; i < n; i++) free(all[i]);
        free(all);
    }
    return 0;
}
