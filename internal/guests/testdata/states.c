// A state machine in one big switch: it reads expressions, and what it knows
// lies in locals.
#include <stdint.h>
#include <stdio.h>

enum state { START, NUMBER, HEX, NAME, STRING, ESCAPE, COMMENT, OPERATOR, STATES };

int main(void) {
    static const char *pieces[] = {"x1", " ", "42", "0x1f", "\"a\\\"b\"", "+", "-=", "#c\n", "(", ")", "\n", "_y", "7"};
    uint64_t seed = 99, value = 0, hash = 0, counts[STATES] = {0};
    int depth = 0, deepest = 0, lines = 0;
    enum state s = START;
    for (int i = 0; i < 900000; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        for (const char *c = pieces[(seed >> 33) % 13]; *c; c++) {
        again:
            counts[s]++;
            switch (s) {
            case START:
                if (*c >= '0' && *c <= '9') s = NUMBER, value = *c - '0';
                else if (*c == '"') s = STRING;
                else if (*c == '#') s = COMMENT;
                else if (*c == '_' || (*c >= 'a' && *c <= 'z')) s = NAME, value = *c;
                else if (*c == '(') deepest = ++depth > deepest ? depth : deepest;
                else if (*c == ')') depth -= depth > 0;
                else if (*c == '\n') lines++;
                else if (*c != ' ') s = OPERATOR;
                break;
            case NUMBER:
                if (*c == 'x' && value == 0) { s = HEX; break; }
                if (*c >= '0' && *c <= '9') { value = value * 10 + *c - '0'; break; }
                goto done;
            case HEX:
                if (*c >= '0' && *c <= '9') { value = value * 16 + *c - '0'; break; }
                if (*c >= 'a' && *c <= 'f') { value = value * 16 + *c - 'a' + 10; break; }
                goto done;
            case NAME:
                if (*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9')) { value = value * 31 + *c; break; }
                goto done;
            case STRING: s = *c == '\\' ? ESCAPE : *c == '"' ? START : STRING; break;
            case ESCAPE: s = STRING; break;
            case COMMENT: if (*c == '\n') s = START, lines++; break;
            default:
                if (*c == '=') { s = START; break; }
            done:
                hash = (hash ^ value) * 1099511628211ull, s = START;
                goto again;
            }
        }
        if (i % 100000 == 0) printf("%d: state %d hash %016llx depth %d\n", i, s, (unsigned long long)hash, depth);
    }
    for (int k = 0; k < STATES; k++) printf("%d ", (int)counts[k]);
    printf("lines %d deepest %d\n", lines, deepest);
    return 0;
}
