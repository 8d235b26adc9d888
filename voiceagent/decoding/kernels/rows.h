// Activations of a few rows: floats, and the same rounded to 8 bits in groups of 32 columns.
#pragma once
#include "vec.h"

namespace lean {

struct Rows {
    int64_t columns;
    float* floats;      // (rows, columns)
    int8_t* codes;      // (rows, columns), in [-127, 127]
    int16_t* wide;      // (rows, columns): codes, columns 0 2 1 3 of each quad
    float* scale;       // (rows, columns / 32): float = scale * code
    float* weighted;    // (rows, columns / 32): scale * sum of the group's codes
    int32_t* pairs;     // (rows, columns / 16): two 16-bit sums, negated: columns 0, 1 and 2, 3 of quads

    const float* row(int r) const { return floats + r * columns; }
    float* row(int r) { return floats + r * columns; }
};

// Rounds one group. Ties go to even, the largest magnitude becomes 127.
inline void quantize_group(Rows& x, int64_t r, int64_t g) {
    const float* in = x.floats + r * x.columns + g * kGroup;
    int8_t* out = x.codes + r * x.columns + g * kGroup;
    const int64_t at = r * (x.columns / kGroup) + g;
    vec v[4], top = all(0);
    for (int i = 0; i < 4; ++i) {
        v[i] = load(in + 8 * i);
        top = max(top, max(v[i], sub(all(0), v[i])));
    }
    const float peak = largest(top), scale = peak / 127.0f;
    const vec inverse = all(peak > 0 ? 127.0f / peak : 0.0f);
    float rounded[kGroup];
    for (int i = 0; i < 4; ++i) store(rounded + 8 * i, nearest(mul(v[i], inverse)));
    for (int i = 0; i < kGroup; ++i) out[i] = static_cast<int8_t>(rounded[i]);
    int16_t* wide = x.wide + r * x.columns + g * kGroup;
    int total = 0;
    for (int half = 0; half < 2; ++half) {
        int first = 0, second = 0;
        for (int i = 16 * half; i < 16 * half + 16; i += 4) {
            first += out[i] + out[i + 1], second += out[i + 2] + out[i + 3];
            wide[i] = out[i], wide[i + 1] = out[i + 2], wide[i + 2] = out[i + 1], wide[i + 3] = out[i + 3];
        }
        total += first + second;
        const uint32_t low = static_cast<uint16_t>(-first), high = static_cast<uint16_t>(-second);
        x.pairs[2 * at + half] = static_cast<int32_t>(low | high << 16);
    }
    x.scale[at] = scale;
    x.weighted[at] = scale * static_cast<float>(total);
}

inline void quantize_row(Rows& x, int64_t r) {
    for (int64_t g = 0; g < x.columns / kGroup; ++g) quantize_group(x, r, g);
}

// x.row(r) = in * weight / rms(in), then rounded.
inline void normalise(const float* in, const float* weight, float epsilon, int64_t n, float* out) {
    vec squares[4] = {all(0), all(0), all(0), all(0)};
    for (int64_t i = 0; i < n; i += 8) {
        const vec v = load(in + i);
        squares[i / 8 % 4] = fma(v, v, squares[i / 8 % 4]);
    }
    const float total = sum(add(add(squares[0], squares[1]), add(squares[2], squares[3])));
    const vec inverse = all(1.0f / std::sqrt(total / static_cast<float>(n) + epsilon));
    for (int64_t i = 0; i < n; i += 8) store(out + i, mul(mul(load(in + i), inverse), load(weight + i)));
}

}  // namespace lean
