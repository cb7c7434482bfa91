// A host for QuickJS that offers a script what it needs here: its arguments in
// scriptArgs, and print. QuickJS's own has threads, signals and terminals.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "quickjs.h"

static JSValue print(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv)
{
    for (int i = 0; i < argc; i++) {
        const char *s = JS_ToCString(ctx, argv[i]);
        if (!s)
            return JS_EXCEPTION;
        printf("%s%s", i ? " " : "", s);
        JS_FreeCString(ctx, s);
    }
    putchar('\n');
    return JS_UNDEFINED;
}

static char *contents(const char *name, size_t *len)
{
    FILE *f = fopen(name, "rb");
    if (!f) {
        perror(name);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    *len = ftell(f);
    rewind(f);
    char *text = malloc(*len + 1); // JS_Eval wants a byte of zero behind it
    if (!text || fread(text, 1, *len, f) != *len)
        exit(1);
    text[*len] = 0;
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    JSRuntime *rt = JS_NewRuntime();
    JSContext *ctx = JS_NewContext(rt);
    JSValue global = JS_GetGlobalObject(ctx), args = JS_NewArray(ctx);
    for (int i = 1; i < argc; i++)
        JS_SetPropertyUint32(ctx, args, i - 1, JS_NewString(ctx, argv[i]));
    JS_SetPropertyStr(ctx, global, "scriptArgs", args);
    JS_SetPropertyStr(ctx, global, "print", JS_NewCFunction(ctx, print, "print", 1));
    JS_FreeValue(ctx, global);

    size_t len;
    char *text = contents(argv[1], &len);
    JSValue end = JS_Eval(ctx, text, len, argv[1], JS_EVAL_TYPE_GLOBAL);
    free(text);
    int failed = JS_IsException(end);
    if (failed) {
        JSValue e = JS_GetException(ctx);
        const char *s = JS_ToCString(ctx, e);
        fprintf(stderr, "%s\n", s ? s : "an exception without words");
        JS_FreeCString(ctx, s);
        JS_FreeValue(ctx, e);
    }
    JS_FreeValue(ctx, end);
    JS_FreeContext(ctx);
    JS_FreeRuntime(rt);
    return failed;
}
