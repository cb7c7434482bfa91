/*
 * Counts the primes in a range, and finds the widest gap between two of them,
 * with a segmented sieve.
 *
 *   primes FROM LENGTH
 *
 * looks at the LENGTH numbers from FROM on, and prints one line:
 * FROM LENGTH COUNT GAP-START GAP-LENGTH.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A segment fits the fast cache of any machine since 2005. */
enum { SEGMENT = 1 << 15 };

static uint64_t number(const char *text) {
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	if (*text == '\0' || *text == '-' || *end != '\0' || n > UINT64_C(1) << 51) {
		fprintf(stderr, "primes: %s is not a number from 0 to 2^51\n", text);
		exit(2);
	}
	return n;
}

static uint64_t root(uint64_t n) {
	uint64_t r = 0;
	while ((r + 1) * (r + 1) <= n)
		r++;
	return r;
}

/* small_primes fills *list with the primes up to limit and returns how many. */
static size_t small_primes(uint64_t limit, uint64_t **list) {
	char *composite = calloc(limit + 1, 1);
	*list = malloc((limit + 1) * sizeof **list);
	if (composite == NULL || *list == NULL) {
		fprintf(stderr, "primes: out of memory\n");
		exit(1);
	}
	size_t count = 0;
	for (uint64_t i = 2; i <= limit; i++) {
		if (composite[i])
			continue;
		(*list)[count++] = i;
		for (uint64_t j = i * i; j <= limit; j += i)
			composite[j] = 1;
	}
	free(composite);
	return count;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: primes FROM LENGTH\n");
		return 2;
	}
	uint64_t from = number(argv[1]), length = number(argv[2]), to = from + length;
	uint64_t *prime;
	size_t primes = small_primes(root(to), &prime);
	static char composite[SEGMENT];
	uint64_t count = 0, last = 0, gap_start = 0, gap = 0;

	for (uint64_t low = from; low < to; low += SEGMENT) {
		uint64_t high = low + SEGMENT < to ? low + SEGMENT : to;
		memset(composite, 0, sizeof composite);
		for (size_t k = 0; k < primes && prime[k] * prime[k] < high; k++) {
			uint64_t p = prime[k], first = (low + p - 1) / p * p;
			for (uint64_t j = first < p * p ? p * p : first; j < high; j += p)
				composite[j - low] = 1;
		}
		for (uint64_t n = low < 2 ? 2 : low; n < high; n++) {
			if (composite[n - low])
				continue;
			if (count++ > 0 && n - last > gap) {
				gap = n - last;
				gap_start = last;
			}
			last = n;
		}
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", from, length, count, gap_start, gap);
	free(prime);
	return 0;
}
