// Files: written, read back while others are open, renamed, removed, listed.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check(int ok, const char *what) {
    if (ok) return;
    printf("wrong: %s: %s\n", what, strerror(errno));
    exit(1);
}

static long list(const char *path) {
    DIR *d = opendir(path);
    check(d != 0, path);
    long total = 0;
    for (struct dirent *e; (e = readdir(d));) { // freezes come between two entries
        struct stat s;
        char name[300];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.') check(stat(name, &s) == 0, name), total = total * 7 + s.st_size + strlen(name);
    }
    closedir(d);
    return total;
}

int main(void) {
    char a[64], b[64], line[128];
    check(mkdir("/made", 0755) == 0, "mkdir");
    FILE *log = fopen("/log", "w+");
    check(log != 0, "log");
    for (int i = 0; i < 120; i++) {
        snprintf(a, sizeof a, "/made/%d.tmp", i), snprintf(b, sizeof b, "/made/%d.txt", i % 50);
        FILE *f = fopen(a, "w");
        check(f != 0, a);
        for (int k = 0; k < 60; k++) fprintf(f, "line %d of %d: %g\n", k, i, k / (i + 1.0));
        check(fseek(f, 10, SEEK_SET) == 0 && fputs("OVER", f) >= 0 && fclose(f) == 0, "writing");
        check(rename(a, b) == 0, "rename");
        FILE *r = fopen(b, "r+");
        check(r != 0, b);
        unsigned long sum = 0;
        while (fgets(line, sizeof line, r))
            for (char *c = line; *c; c++) sum = sum * 131 + (unsigned char)*c;
        check(ftruncate(fileno(r), 500 + i) == 0 && fclose(r) == 0, "truncating");
        fprintf(log, "%d %lx %ld\n", i, sum, i % 10 ? 0 : list("/made"));
        if (i % 9 == 0) check(unlink(b) == 0 && fopen(b, "r") == 0 && errno == ENOENT, "unlink");
    }
    check(rename("/made", "/kept") == 0 && opendir("/made") == 0, "renaming a directory");
    rewind(log);
    int lines = 0;
    while (fgets(line, sizeof line, log)) lines++;
    printf("%d lines, %ld listed, %ld bytes\n", lines, list("/kept"), ftell(log));
    return lines != 120;
}
