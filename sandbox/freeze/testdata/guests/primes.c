// Primes by trial division.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int limit = argc > 1 ? atoi(argv[1]) : 20000, count = 0;
    for (int n = 2; n < limit; n++) {
        int prime = 1;
        for (int d = 2; d * d <= n; d++)
            if (n % d == 0) {
                prime = 0;
                break;
            }
        count += prime;
    }
    printf("%d primes below %d\n", count, limit);
    return 0;
}
