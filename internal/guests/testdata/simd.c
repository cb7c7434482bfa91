// Vectors: lanes of every width live in locals while the loops run, and what
// they give is compared with the same in scalars.
#include <stdint.h>
#include <stdio.h>
#include <wasm_simd128.h>

enum { N = 4096, ROUNDS = 900 };
static float a[N], b[N], c[N], d[N];
static uint8_t bytes[N];

__attribute__((noinline)) static v128_t blend(int n, v128_t x, v128_t y) { // vectors as arguments, across calls
    if (n == 0) return wasm_i8x16_shuffle(x, y, 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31);
    v128_t low = blend(n - 1, wasm_i32x4_add(x, y), wasm_v128_xor(x, wasm_i32x4_shl(y, 3)));
    return wasm_i16x8_add_sat(low, wasm_i64x2_add(x, wasm_i8x16_swizzle(y, x)));
}

static uint64_t lanes(v128_t v) { return wasm_i64x2_extract_lane(v, 0) * 31 + wasm_i64x2_extract_lane(v, 1); }

int main(void) {
    for (int i = 0; i < N; i++) a[i] = i * 0.5f, b[i] = 1.0f / (i + 1), bytes[i] = i * 37;
    v128_t mix = wasm_i32x4_make(1, 2, 3, 4);
    int wrong = 0;
    for (int r = 0; r < ROUNDS; r++) {
        v128_t scale = wasm_f32x4_splat(1 + r * 0.001f), most = wasm_f32x4_splat(-1e30f), sum = wasm_i16x8_splat(0);
        for (int i = 0; i < N; i += 4) {
            v128_t x = wasm_f32x4_mul(wasm_f32x4_add(wasm_v128_load(a + i), wasm_v128_load(b + i)), scale);
            most = wasm_f32x4_pmax(most, wasm_f32x4_sqrt(x));
            wasm_v128_store(c + i, x);
        }
        for (int i = 0; i < N; i += 16) {
            v128_t x = wasm_v128_load(bytes + i);
            sum = wasm_i16x8_add(sum, wasm_u16x8_extadd_pairwise_u8x16(wasm_u8x16_avgr(x, mix)));
            mix = wasm_v128_bitselect(wasm_i8x16_add(mix, x), mix, wasm_i8x16_gt(x, wasm_i8x16_splat(r)));
        }
        for (int i = 0; i < N; i++) d[i] = (a[i] + b[i]) * (1 + r * 0.001f); // for the vectoriser
        for (int i = 0; i < N; i++) wrong += c[i] != d[i];
        mix = wasm_v128_xor(mix, blend(r % 40, sum, wasm_i32x4_trunc_sat_f32x4(most)));
        if (r % 100 == 0)
            printf("%4d: %016llx %016llx %.9g\n", r, (unsigned long long)lanes(mix), (unsigned long long)lanes(sum), wasm_f32x4_extract_lane(most, 2));
    }
    printf("%d differ\n", wrong);
    return wrong != 0;
}
