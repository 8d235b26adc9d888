// Attention of one row over the keys and values of its own cache (float16), one key-value head and
// the query heads that share it at a time. Rows never look at one another here: what a row sees and
// in which order it adds does not depend on the block it came in.
#pragma once
#include "vec.h"

namespace lean {

constexpr int kSpan = 16;        // positions whose keys or values are widened together
constexpr int kMaxHead = 256;

struct Heads { int64_t query, kv, size; };

inline void widen(const uint16_t* half, int64_t count, float* wide) {
    for (int64_t i = 0; i < count; i += 8) store(wide + i, load_half(half + i));
}

inline float dot(const float* a, const float* b, int64_t n) {
    vec even = all(0), odd = all(0);
    for (int64_t i = 0; i < n; i += 16) {
        even = fma(load(a + i), load(b + i), even);
        if (i + 8 < n) odd = fma(load(a + i + 8), load(b + i + 8), odd);
    }
    return sum(add(even, odd));
}

// In place; seen is padded to a multiple of 8 with scores that vanish.
inline void softmax(float* scores, int64_t seen) {
    const int64_t padded = (seen + 7) / 8 * 8;
    for (int64_t i = seen; i < padded; ++i) scores[i] = -1e30f;
    vec top = load(scores);
    for (int64_t i = 8; i < padded; i += 8) top = max(top, load(scores + i));
    const vec peak = all(largest(top));
    vec total = all(0);
    for (int64_t i = 0; i < padded; i += 8) {
        const vec e = exp(sub(load(scores + i), peak));
        store(scores + i, e);
        total = add(total, e);
    }
    const vec inverse = all(1.0f / sum(total));  // padding adds exp(-87): lost in rounding
    for (int64_t i = 0; i < padded; i += 8) store(scores + i, mul(load(scores + i), inverse));
}

// query, out: the `shared` heads of this kv head, (shared, size). scores: (shared, stride).
inline void attend(
    const float* query, const uint16_t* keys, const uint16_t* values, int64_t seen, int64_t shared,
    int64_t size, float scale, float* scores, int64_t stride, float* out
) {
    float wide[kSpan * kMaxHead];
    for (int64_t at = 0; at < seen; at += kSpan) {
        const int64_t span = seen - at < kSpan ? seen - at : kSpan;
        widen(keys + at * size, span * size, wide);
        for (int64_t h = 0; h < shared; ++h)
            for (int64_t i = 0; i < span; ++i)
                scores[h * stride + at + i] = scale * dot(query + h * size, wide + i * size, size);
    }
    for (int64_t h = 0; h < shared; ++h) softmax(scores + h * stride, seen);
    std::memset(out, 0, shared * size * sizeof(float));
    for (int64_t at = 0; at < seen; at += kSpan) {
        const int64_t span = seen - at < kSpan ? seen - at : kSpan;
        widen(values + at * size, span * size, wide);
        for (int64_t h = 0; h < shared; ++h)
            for (int64_t c = 0; c < size; c += 32) {
                vec mixed[4];
                const int64_t lanes = size - c < 32 ? (size - c) / 8 : 4;
                for (int64_t v = 0; v < lanes; ++v) mixed[v] = load(out + h * size + c + 8 * v);
                for (int64_t i = 0; i < span; ++i) {
                    const vec weight = all(scores[h * stride + at + i]);
                    for (int64_t v = 0; v < lanes; ++v)
                        mixed[v] = fma(weight, load(wide + i * size + c + 8 * v), mixed[v]);
                }
                for (int64_t v = 0; v < lanes; ++v) store(out + h * size + c + 8 * v, mixed[v]);
            }
    }
}

// Turns each head by its position: halves are the two coordinates of a pair.
inline void rotate(float* head, const float* cosine, const float* sine, int64_t size) {
    const int64_t half = size / 2;
    for (int64_t i = 0; i < half; ++i) {
        const float a = head[i], b = head[half + i];
        head[i] = a * cosine[i] - b * sine[i];
        head[half + i] = b * cosine[i] + a * sine[i];
    }
}

}  // namespace lean
