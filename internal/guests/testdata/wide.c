// Wide integers: long long arithmetic, and 128 bits made of them.
#include <stdint.h>
#include <stdio.h>

typedef unsigned __int128 wide;

static uint64_t times(uint64_t a, uint64_t b, uint64_t m) { // m below 2^63
    uint64_t r = 0;
    for (; b; b >>= 1, a = a * 2 >= m ? a * 2 - m : a * 2)
        if (b & 1) r = r + a >= m ? r + a - m : r + a;
    return r;
}

static uint64_t power(uint64_t b, uint64_t e, uint64_t m) {
    uint64_t r = 1;
    for (; e; e >>= 1, b = times(b, b, m))
        if (e & 1) r = times(r, b, m);
    return r;
}

static int prime(uint64_t n) { // Miller-Rabin, certain for numbers of 64 bits with these bases
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    uint64_t d = n - 1;
    int twos = __builtin_ctzll(d);
    d >>= twos;
    for (int i = 0; i < 12; i++) {
        if (n % bases[i] == 0) return n == bases[i];
        uint64_t x = power(bases[i], d, n);
        int ok = x == 1 || x == n - 1;
        for (int k = 1; k < twos && !ok; k++) ok = (x = times(x, x, n)) == n - 1;
        if (!ok) return 0;
    }
    return 1;
}

int main(void) {
    uint64_t from[] = {1000000007ull, 1ull << 40, 1ull << 61, 9223372036854775000ull};
    for (int i = 0; i < 4; i++) {
        uint64_t sum = 0, last = 0;
        int found = 0;
        for (uint64_t n = from[i] | 1; n - from[i] < 500; n += 2)
            if (prime(n)) found++, last = n, sum += n;
        printf("from %llu: %d primes, last %llu, sum %llu\n", (unsigned long long)from[i], found, (unsigned long long)last, (unsigned long long)sum);
    }
    int64_t a = -9223372036854775807ll, b = 1;
    uint64_t bits = 0;
    for (int i = 1; i < 400000; i++) {
        a = (int64_t)((uint64_t)a * 3 + i), b = a / (i | 1) - a % (i + 3);
        bits += __builtin_popcountll(a) + __builtin_clzll(b | 1) + (uint64_t)((wide)(uint64_t)a * (uint64_t)b >> 64);
    }
    printf("%lld %lld %llx\n", (long long)a, (long long)b, (unsigned long long)bits);
    return prime(9223372036854775783ull) ? 0 : 1;
}
