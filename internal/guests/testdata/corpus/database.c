// A shell for SQLite: runs each argument after the first as SQL on the data
// base that the first names; one that begins with @ names a file of it. Rows
// are printed with | between their columns.
#include <stdio.h>
#include <stdlib.h>
#include "sqlite3-binding.h"

static int row(void *unused, int n, char **values, char **names)
{
    (void)unused, (void)names;
    for (int i = 0; i < n; i++)
        printf("%s%s", i ? "|" : "", values[i] ? values[i] : "null");
    putchar('\n');
    return 0;
}

static char *contents(const char *name)
{
    FILE *f = fopen(name, "rb");
    if (!f) {
        perror(name);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    size_t len = ftell(f);
    rewind(f);
    char *text = malloc(len + 1);
    if (!text || fread(text, 1, len, f) != len)
        exit(1);
    text[len] = 0;
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    sqlite3 *db;
    if (argc < 2)
        return 2;
    if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix-none")) {
        fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        char *words = NULL;
        if (sqlite3_exec(db, argv[i][0] == '@' ? contents(argv[i] + 1) : argv[i], row, NULL, &words)) {
            fprintf(stderr, "%s\n", words);
            return 1;
        }
    }
    return sqlite3_close(db);
}
