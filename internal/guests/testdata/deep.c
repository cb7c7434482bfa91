// Deep stacks: more than a hundred thousand frames at once, with something in
// each that must be there on the way back.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct tree { struct tree *left, *right; uint64_t key; } tree;
enum { DEPTH = 120000 };

__attribute__((noinline)) static uint64_t down(int n, uint64_t a, volatile uint64_t *above) {
    volatile uint64_t here[4] = {a, a ^ n, a + n, *above}; // in linear memory
    if (n == 0) return a;
    uint64_t below = down(n - 1, a * 6364136223846793005ull + 1442695040888963407ull, here);
    return below * 31 + here[n & 3] + *above + a;
}

static int depth(const tree *t) { // a tree that is a list
    if (!t) return 0;
    int l = depth(t->left), r = depth(t->right);
    return 1 + (l > r ? l : r);
}

static volatile int passed; // written after the call: it is not a jump
static int odd(unsigned n);
__attribute__((noinline)) static int even(unsigned n) {
    int r = n == 0 ? 1 : odd(n - 1);
    passed++;
    return r;
}
__attribute__((noinline)) static int odd(unsigned n) {
    int r = n == 0 ? 0 : even(n - 1);
    passed++;
    return r;
}

int main(void) {
    volatile uint64_t top = 7;
    tree *root = 0;
    for (int i = 0; i < DEPTH; i++) {
        tree *t = malloc(sizeof *t);
        *t = (tree){i & 1 ? root : 0, i & 1 ? 0 : root, i};
        root = t;
    }
    for (int r = 0; r < 6; r++) {
        printf("%d: %016llx\n", r, (unsigned long long)down(DEPTH, r + 1, &top));
        int d = depth(root), e = even(DEPTH + r);
        printf("   depth %d, even %d, passed %d\n", d, e, passed);
    }
    return 0;
}
