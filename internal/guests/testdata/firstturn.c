// Recursion through the first turn of loops that never go round again: every
// call must be metered all the same, or nothing could stop it.
#include <stdio.h>

static volatile int again;
static volatile long calls;

__attribute__((noinline)) static void descend(int n) {
	do {
		calls++;
		if (n > 0) {
			descend(n - 1);
			descend(n - 1);
		}
	} while (again);
}

int main(void) {
	descend(22);
	printf("%ld calls\n", calls);
	return 0;
}
