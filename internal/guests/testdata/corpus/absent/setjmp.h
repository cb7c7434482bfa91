// There is no longjmp here: jumping ends the program.
#ifndef SETJMP_H
#define SETJMP_H
#include <stdlib.h>
typedef int jmp_buf[1];
typedef int sigjmp_buf[1];
#define setjmp(env) ((void)(env), 0)
#define sigsetjmp(env, mask) ((void)(env), (void)(mask), 0)
#define longjmp(env, value) ((void)(env), (void)(value), abort())
#define siglongjmp longjmp
#endif
