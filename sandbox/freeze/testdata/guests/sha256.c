// A chain of SHA-256.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t k[64];

static uint32_t ror(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t root_bits(int p, int cube) {
    // The first 32 bits of the fraction of a root of p, by bisection in integers.
    unsigned __int128 lo = 0, hi = (unsigned __int128)20 << 32, target = (unsigned __int128)p << (cube ? 96 : 64);
    while (hi - lo > 1) {
        unsigned __int128 mid = (lo + hi) / 2, power = cube ? mid * mid * mid : mid * mid;
        if (power <= target) lo = mid; else hi = mid;
    }
    return (uint32_t)lo;
}

static void block(uint32_t *h, const uint8_t *p) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++) w[i] = (uint32_t)p[4 * i] << 24 | p[4 * i + 1] << 16 | p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
    }
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--) s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
}

int main(int argc, char **argv) {
    int turns = argc > 1 ? atoi(argv[1]) : 2000, primes[64], n = 0;
    uint32_t start[8], h[8];
    for (int p = 2; n < 64; p++) {
        int ok = 1;
        for (int i = 0; i < n; i++) ok &= p % primes[i] != 0;
        if (ok) primes[n++] = p;
    }
    for (int i = 0; i < 64; i++) k[i] = root_bits(primes[i], 1);
    for (int i = 0; i < 8; i++) start[i] = root_bits(primes[i], 0);
    uint8_t data[64] = {0};
    data[32] = 0x80, data[62] = 1; // 32 bytes, padded
    for (int t = 0; t < turns; t++) {
        memcpy(h, start, sizeof h);
        block(h, data);
        for (int i = 0; i < 32; i++) data[i] = h[i / 4] >> (24 - i % 4 * 8);
    }
    for (int i = 0; i < 32; i++) printf("%02x", data[i]);
    puts("");
    return 0;
}
