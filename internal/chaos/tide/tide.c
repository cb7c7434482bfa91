// Tide is the program whose moves scripts/bench migration and scripts/chaos
// migration watch: it fills memory with what does not compress, once, and then
// rewrites it bit by bit, block after block, without an end to the first before
// the next begins.
//
//   tide START BLOCKS STEPS EVERY ROUNDS
//
// A round is STEPS steps of a walk; every EVERY-th writes one of the BLOCKS of
// memory anew. It prints how many rounds it ran, and a sum of where the walk ended
// and all that memory holds: a round that is left out, run twice, or run on other
// memory changes it (internal/chaos/walk says what is right).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 512 }; // of a block: 4 KiB

// What the program shows of itself to one who reads its memory from outside: its
// rounds are those that are over, and by its mark it is found, which only memory has
// in which it runs, not the module.
static volatile struct {
    uint64_t mark[2], start, rounds;
} shown;

// step is Marsaglia's xorshift (2003), as in internal/chaos/walk.
static inline uint64_t step(uint64_t x) {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

static uint64_t fill(uint64_t x, uint64_t *block) {
    for (int i = 0; i < WORDS; i++) block[i] = x = step(x);
    return x;
}

int main(int argc, char **argv) {
    if (argc != 6) return fputs("usage: tide START BLOCKS STEPS EVERY ROUNDS\n", stderr), 2;
    uint64_t n[5];
    for (int i = 0; i < 5; i++) n[i] = strtoull(argv[i + 1], NULL, 10);
    uint64_t blocks = n[1], steps = n[2], every = n[3], rounds = n[4];
    if (!blocks || !every) return fputs("tide: BLOCKS and EVERY must be positive\n", stderr), 2;
    uint64_t *memory = malloc(blocks * WORDS * sizeof *memory);
    if (!memory) return fputs("tide: there is not so much memory\n", stderr), 1;
    uint64_t x = n[0] ? n[0] : 1;
    shown.start = n[0];
    for (uint64_t b = 0; b < blocks; b++) x = fill(x, memory + b * WORDS);
    shown.mark[0] = 0x9c1f5ae37bd2460dull;
    shown.mark[1] = 0x38e6d40b71a9f2c5ull;
    for (uint64_t r = 0; r < rounds; r++) {
        for (uint64_t s = 0; s < steps; s++) x = step(x);
        if (r % every == 0) x = fill(x, memory + r / every % blocks * WORDS);
        shown.rounds = r + 1;
    }
    for (uint64_t i = 0; i < blocks * WORDS; i++) x = step(x ^ memory[i]);
    printf("%llu %016llx\n", (unsigned long long)shown.rounds, (unsigned long long)x);
    return 0;
}
