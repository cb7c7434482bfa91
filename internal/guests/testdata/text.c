// Text: words counted in a table that grows, numbers printed and read back.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char *word; int count; } slot;
static slot *table;
static size_t size, used;

static slot *find(const char *w) {
    size_t h = 5381;
    for (const char *c = w; *c; c++) h = h * 33 ^ (unsigned char)*c;
    while (table[h % size].word && strcmp(table[h % size].word, w)) h++;
    return &table[h % size];
}

static void grow(void) {
    slot *old = table;
    size_t n = size;
    size = n ? n * 2 : 16;
    table = calloc(size, sizeof *table);
    for (size_t i = 0; i < n; i++)
        if (old[i].word) *find(old[i].word) = old[i];
    free(old);
}

static void count(const char *w) {
    if (2 * (used + 1) > size) grow();
    slot *s = find(w);
    if (!s->word) s->word = strdup(w), used++;
    s->count++;
}

int main(void) {
    static char text[1 << 16];
    int wrong = 0;
    for (int round = 0; round < 30; round++) {
        char *p = text;
        for (int i = 0; i < 1500; i++) {
            double x = (i + 1) * 0.37 / (round + 1), y;
            int n = sprintf(p, "W%x, %-6d;%+.3e|%5s %a\n", i * 7919 % (300 + round), i, x, i % 3 ? "the" : "of", x);
            char *a = strrchr(p, ' ');
            wrong += sscanf(a, "%lf", &y) != 1 || y != x;
            if ((p += n) > text + sizeof text - 200) break;
        }
        for (char *c = text; *c; c++) *c = tolower((unsigned char)*c);
        for (char *w = strtok(text, " ,;|\n"); w; w = strtok(0, " ,;|\n")) count(w);
        printf("%2d: %zu words in %zu, the %d, of %d, w1f %d\n", round, used, size, find("the")->count, find("of")->count, find("w1f")->count);
    }
    return wrong != 0;
}
