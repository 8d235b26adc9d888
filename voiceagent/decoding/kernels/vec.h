// Eight floats at a time: AVX2 where there is one, plain loops elsewhere. Both round alike.
#pragma once
#include <cmath>
#include <initializer_list>
#include "layout.h"
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>
#define LEAN_AVX2 1
#else
#define LEAN_AVX2 0
#endif

namespace lean {

#if LEAN_AVX2

using vec = __m256;
inline vec load(const float* at) { return _mm256_loadu_ps(at); }
inline vec load_half(const uint16_t* at) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
inline void store(float* at, vec v) { _mm256_storeu_ps(at, v); }
inline void store_half(uint16_t* at, vec v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
inline vec all(float x) { return _mm256_set1_ps(x); }
inline vec add(vec a, vec b) { return _mm256_add_ps(a, b); }
inline vec sub(vec a, vec b) { return _mm256_sub_ps(a, b); }
inline vec mul(vec a, vec b) { return _mm256_mul_ps(a, b); }
inline vec div(vec a, vec b) { return _mm256_div_ps(a, b); }
inline vec fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
inline vec max(vec a, vec b) { return _mm256_max_ps(a, b); }
inline vec min(vec a, vec b) { return _mm256_min_ps(a, b); }
inline vec nearest(vec a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline vec power_of_two(vec n) {  // n whole, in [-126, 127]
    const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
}

#else

struct vec { float lane[8]; };
template <class F> inline vec each(F f) {
    vec r;
    for (int i = 0; i < 8; ++i) r.lane[i] = f(i);
    return r;
}
inline vec load(const float* at) { return each([&](int i) { return at[i]; }); }
inline vec load_half(const uint16_t* at) { return each([&](int i) { return half_to_float(at[i]); }); }
inline void store(float* at, vec v) { std::memcpy(at, v.lane, 32); }
inline void store_half(uint16_t* at, vec v) { for (int i = 0; i < 8; ++i) at[i] = float_to_half(v.lane[i]); }
inline vec all(float x) { return each([&](int) { return x; }); }
inline vec add(vec a, vec b) { return each([&](int i) { return a.lane[i] + b.lane[i]; }); }
inline vec sub(vec a, vec b) { return each([&](int i) { return a.lane[i] - b.lane[i]; }); }
inline vec mul(vec a, vec b) { return each([&](int i) { return a.lane[i] * b.lane[i]; }); }
inline vec div(vec a, vec b) { return each([&](int i) { return a.lane[i] / b.lane[i]; }); }
inline vec fma(vec a, vec b, vec c) { return each([&](int i) { return std::fma(a.lane[i], b.lane[i], c.lane[i]); }); }
inline vec max(vec a, vec b) { return each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; }); }
inline vec min(vec a, vec b) { return each([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; }); }
inline vec nearest(vec a) { return each([&](int i) { return std::nearbyint(a.lane[i]); }); }
inline vec power_of_two(vec n) { return each([&](int i) { return std::ldexp(1.0f, static_cast<int>(n.lane[i])); }); }

#endif

inline float sum(vec v) {  // always in the same order
    float x[8];
    store(x, v);
    return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
}

inline float largest(vec v) {
    float x[8], m;
    store(x, v);
    m = x[0];
    for (int i = 1; i < 8; ++i) m = x[i] > m ? x[i] : m;
    return m;
}

// exp(x) to about 2 units in the last place, for x in [-87, 88] (clamped): 2^n times the Taylor
// polynomial of the rest, whose magnitude is at most ln(2) / 2.
inline vec exp(vec x) {
    x = min(max(x, all(-87.0f)), all(88.0f));
    const vec n = nearest(mul(x, all(1.44269504f)));
    vec r = fma(n, all(-0.693359375f), x);         // ln 2, its leading bits ...
    r = fma(n, all(2.12194440e-4f), r);            // ... and the remainder
    vec p = all(1.0f / 5040);
    for (const float c : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
        p = fma(p, r, all(c));
    return mul(p, power_of_two(n));
}

}  // namespace lean
