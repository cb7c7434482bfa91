// What wasi-libc lacks and real programs name: given to the compiler before
// each source. What none of the workloads needs fails, or does nothing.
#ifndef ABSENT_H
#define ABSENT_H
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static inline int absent_fails(void) { errno = ENOSYS; return -1; }
static inline FILE *absent_tmpfile(void) { errno = ENOSYS; return NULL; }
static inline char *absent_tmpnam(char *s) { (void)s; return NULL; }
#ifndef L_tmpnam
#define L_tmpnam 20
#endif
#define system(command) ((void)(command), absent_fails())
#define tmpfile absent_tmpfile
#define tmpnam absent_tmpnam
#define chmod(path, mode) ((void)(path), (void)(mode), 0)
#define fchmod(fd, mode) ((void)(fd), (void)(mode), 0)
#define chown(path, user, group) ((void)(path), (void)(user), (void)(group), 0)
#define fchown(fd, user, group) ((void)(fd), (void)(user), (void)(group), 0)
#define geteuid() 0
#define umask(mode) ((void)(mode), 022)
#endif
