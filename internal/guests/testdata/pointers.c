// Function pointers: a little machine whose instructions are entries of a
// table, and callbacks that call callbacks.
#include <stdint.h>
#include <stdio.h>

typedef struct machine { uint64_t acc, mem[64]; unsigned pc; long steps; } machine;
typedef void op(machine *, unsigned);
typedef uint64_t fold(uint64_t, uint64_t);

static void add(machine *m, unsigned x) { m->acc += m->mem[x]; }
static void mul(machine *m, unsigned x) { m->acc *= m->mem[x] | 1; }
static void rot(machine *m, unsigned x) { m->acc = m->acc << (x & 31) | m->acc >> (64 - (x & 31)) % 64; }
static void put(machine *m, unsigned x) { m->mem[x] = m->acc; }
static void jmp(machine *m, unsigned x) { if (m->acc & 1) m->pc += x; }
static op *const ops[] = {add, mul, rot, put, jmp};

static uint64_t sum(uint64_t a, uint64_t b) { return a + b; }
static uint64_t mix(uint64_t a, uint64_t b) { return (a ^ b) * 0x9e3779b97f4a7c15; }

static uint64_t apply(int depth, fold *f, fold *g, uint64_t x) {
    return depth == 0 ? f(x, 1) : g(apply(depth - 1, g, f, x + 1), apply(depth - 1, f, g, x ^ depth));
}

int main(void) {
    machine m = {.acc = 1};
    fold *folds[] = {sum, mix};
    for (int i = 0; i < 64; i++) m.mem[i] = i * 0x12345678abcdull;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 200000; i++, m.steps++) {
            uint64_t word = m.mem[m.pc % 64] ^ m.steps * 0x2545f4914f6cdd1d;
            ops[(word >> 33) % 5](&m, word >> 40 & 63);
            m.pc++;
        }
        uint64_t x = apply(14, folds[round & 1], folds[round >> 1 & 1], m.acc);
        printf("%d: %016llx %016llx at %u\n", round, (unsigned long long)m.acc, (unsigned long long)x, m.pc);
    }
    return 0;
}
