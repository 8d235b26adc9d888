// The inner loop: eight outputs of one block against a few rows of 8-bit activations.
//
// Sums inside a group are whole numbers and therefore exact; between groups each row and output has
// one float accumulator, filled in the same order whatever the number of rows. So the result of a
// row does not depend on its company, and all paths below agree bit for bit.
#pragma once
#include "rows.h"
#if defined(__AVXVNNI__) || (defined(__AVX512VNNI__) && defined(__AVX512VL__)) || defined(LEAN_EMULATE_VNNI)
#define LEAN_VNNI LEAN_AVX2
#else
#define LEAN_VNNI 0
#endif

namespace lean {

constexpr int kTile = 4;  // rows that share one unpacking of the weights

#if LEAN_AVX2

inline __m256i bytes_at(const void* at) { return _mm256_loadu_si256(static_cast<const __m256i*>(at)); }

inline __m256i broadcast(const void* at) {  // four bytes to all lanes
    int32_t word;
    std::memcpy(&word, at, 4);
    return _mm256_set1_epi32(word);
}

template <int kShift> inline __m256i shifted(__m256i v) {  // left, or right if negative
    if constexpr (kShift >= 0) return _mm256_slli_epi16(v, kShift);
    else return _mm256_srli_epi16(v, -kShift);
}

// The eight quads of a group for one half of the panel; see layout.h.
template <int T> inline void unpack(const uint8_t* codes, __m256i (&w)[8]) {
    constexpr Traits t = traits_of(T);
    if constexpr (t.bits == 8) {
        for (int q = 0; q < 8; ++q) w[q] = bytes_at(codes + 64 * q);
        return;
    }
    const __m256i low = _mm256_set1_epi8(15);
    for (int v = 0; v < 4; ++v) {
        const __m256i packed = bytes_at(codes + 64 * v);
        w[2 * v] = _mm256_and_si256(packed, low);
        w[2 * v + 1] = _mm256_and_si256(_mm256_srli_epi16(packed, 4), low);
    }
    if constexpr (t.bits == 5) {
        const __m256i bit = _mm256_set1_epi8(16), plane = bytes_at(codes + 256);
        w[0] = _mm256_or_si256(w[0], _mm256_and_si256(shifted<4>(plane), bit));
        w[1] = _mm256_or_si256(w[1], _mm256_and_si256(shifted<3>(plane), bit));
        w[2] = _mm256_or_si256(w[2], _mm256_and_si256(shifted<2>(plane), bit));
        w[3] = _mm256_or_si256(w[3], _mm256_and_si256(shifted<1>(plane), bit));
        w[4] = _mm256_or_si256(w[4], _mm256_and_si256(plane, bit));
        w[5] = _mm256_or_si256(w[5], _mm256_and_si256(shifted<-1>(plane), bit));
        w[6] = _mm256_or_si256(w[6], _mm256_and_si256(shifted<-2>(plane), bit));
        w[7] = _mm256_or_si256(w[7], _mm256_and_si256(shifted<-3>(plane), bit));
    }
    if constexpr (t.bits == 6) {
        const __m256i bits = _mm256_set1_epi8(48);
        for (int u = 0; u < 2; ++u) {
            const __m256i plane = bytes_at(codes + 256 + 64 * u);
            w[4 * u] = _mm256_or_si256(w[4 * u], _mm256_and_si256(shifted<4>(plane), bits));
            w[4 * u + 1] = _mm256_or_si256(w[4 * u + 1], _mm256_and_si256(shifted<2>(plane), bits));
            w[4 * u + 2] = _mm256_or_si256(w[4 * u + 2], _mm256_and_si256(plane, bits));
            w[4 * u + 3] = _mm256_or_si256(w[4 * u + 3], _mm256_and_si256(shifted<-2>(plane), bits));
        }
    }
}

inline __m256i eight_bytes(const uint8_t* at) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
}

#if LEAN_VNNI

#if defined(LEAN_EMULATE_VNNI)
inline __m256i dot4(__m256i total, __m256i w, __m256i x) {  // exact for codes below 64, as VNNI is
    const __m256i even = _mm256_madd_epi16(_mm256_and_si256(w, _mm256_set1_epi16(255)),
                                           _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8));
    const __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(w, 8), _mm256_srai_epi16(x, 8));
    return _mm256_add_epi32(total, _mm256_add_epi32(even, odd));
}
#elif defined(__AVXVNNI__)
inline __m256i dot4(__m256i total, __m256i w, __m256i x) { return _mm256_dpbusd_avx_epi32(total, w, x); }
#else
inline __m256i dot4(__m256i total, __m256i w, __m256i x) { return _mm256_dpbusd_epi32(total, w, x); }
#endif

// What multiplies a group's whole-number sums: floats, one set for each half of the group.
struct Scales { vec half[2]; };

template <int T> inline Scales scales_of(const uint8_t* sub, int side) {
    constexpr Traits t = traits_of(T);
    if constexpr (t.sub == 32) {
        const vec s = _mm256_cvtepi32_ps(eight_bytes(sub + 8 * side));
        return {{s, s}};
    }
    if constexpr (t.sub == 16) {
        Scales s;
        for (int h = 0; h < 2; ++h)
            s.half[h] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(
                _mm_loadl_epi64(reinterpret_cast<const __m128i*>(sub + 16 * h + 8 * side))));
        return s;
    }
    return {{all(1), all(1)}};
}

// (code - offset) * activation, summed over half a group (or a whole one) and scaled.
template <int T>
inline vec group_sum(const __m256i (&w)[8], const Scales& s, const Rows& x, int64_t at, int64_t pair) {
    constexpr Traits t = traits_of(T);
    constexpr int kOffset = t.bits == 8 ? 128 : t.offset;  // the dot product wants unsigned codes
    __m256i total[2];
    for (int h = 0; h < 2; ++h) {
        total[h] = _mm256_setzero_si256();
        if constexpr (kOffset != 0)
            total[h] = _mm256_madd_epi16(broadcast(x.pairs + pair + h), _mm256_set1_epi16(kOffset));
        for (int q = 4 * h; q < 4 * h + 4; ++q) {
            const __m256i code = t.bits == 8 ? _mm256_xor_si256(w[q], _mm256_set1_epi8(-128)) : w[q];
            total[h] = dot4(total[h], code, broadcast(x.codes + at + 4 * q));
        }
    }
    if constexpr (t.sub == 16)
        return fma(_mm256_cvtepi32_ps(total[0]), s.half[0], mul(_mm256_cvtepi32_ps(total[1]), s.half[1]));
    const vec whole = _mm256_cvtepi32_ps(_mm256_add_epi32(total[0], total[1]));
    return t.sub == 32 ? mul(whole, s.half[0]) : whole;
}

#else  // AVX2 alone: pairs of products in 16 bits, scaled while they are widened to 32

struct Scales { __m256i half[2]; };

inline __m128i twice(const uint8_t* at) {  // eight bytes, each two times
    const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
    return _mm_unpacklo_epi8(v, v);
}

template <int T> inline Scales scales_of(const uint8_t* sub, int side) {
    constexpr Traits t = traits_of(T);
    if constexpr (t.sub == 32) {
        const __m256i s = _mm256_cvtepu8_epi16(twice(sub + 8 * side));
        return {{s, s}};
    }
    if constexpr (t.sub == 16)
        return {{_mm256_cvtepi8_epi16(twice(sub + 8 * side)),
                 _mm256_cvtepi8_epi16(twice(sub + 16 + 8 * side))}};
    return {{_mm256_set1_epi16(1), _mm256_set1_epi16(1)}};
}

template <int kOffset> inline __m256i times_offset(__m256i negated) {
    return shifted<kOffset == 8 ? 3 : kOffset == 16 ? 4 : 5>(negated);
}

// Sums of 16 bits may wrap on the way: the last one fits (|code - offset| * 127 * terms < 2^15).
template <int T>
inline vec group_sum(const __m256i (&w)[8], const Scales& s, const Rows& x, int64_t at, int64_t pair) {
    constexpr Traits t = traits_of(T);
    if constexpr (t.bits == 8) {
        __m256i total = _mm256_setzero_si256();
        for (int q = 0; q < 8; ++q) {
            const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w[q], 8), 8);
            const __m256i odd = _mm256_srai_epi16(w[q], 8);
            const int16_t* wide = x.wide + at + 4 * q;
            total = _mm256_add_epi32(total, _mm256_madd_epi16(even, broadcast(wide)));
            total = _mm256_add_epi32(total, _mm256_madd_epi16(odd, broadcast(wide + 2)));
        }
        return _mm256_cvtepi32_ps(total);
    }
    __m256i half[2];
    for (int h = 0; h < 2; ++h) {
        half[h] = _mm256_maddubs_epi16(w[4 * h], broadcast(x.codes + at + 16 * h));
        if constexpr (t.offset != 0)
            half[h] = _mm256_add_epi16(half[h], times_offset<t.offset>(broadcast(x.pairs + pair + h)));
        for (int q = 4 * h + 1; q < 4 * h + 4; ++q)
            half[h] = _mm256_add_epi16(half[h], _mm256_maddubs_epi16(w[q], broadcast(x.codes + at + 4 * q)));
    }
    if constexpr (t.split)
        return _mm256_cvtepi32_ps(_mm256_add_epi32(
            _mm256_madd_epi16(half[0], s.half[0]), _mm256_madd_epi16(half[1], s.half[1])));
    return _mm256_cvtepi32_ps(_mm256_madd_epi16(_mm256_add_epi16(half[0], half[1]), s.half[0]));
}

#endif

template <int T> inline vec small_minimums(const uint8_t* sub, int side) {
    return _mm256_cvtepi32_ps(eight_bytes(sub + 16 + 8 * side));
}

#else  // no AVX2: the same sums in plain C++

struct Codes { const uint8_t* codes; int side; };
struct Scales { const uint8_t* sub; int side; };
using Weights = Codes;

template <int T>
inline vec group_sum(const Codes& w, const Scales& s, const Rows& x, int64_t at, int64_t) {
    constexpr Traits t = traits_of(T);
    return each([&](int lane) {
        const int output = 8 * w.side + lane;
        int64_t total = 0;
        for (int k = 0; k < kGroup; ++k) {
            int scale = 1;
            if (t.sub == 32) scale = s.sub[output];
            if (t.sub == 16) scale = static_cast<int8_t>(s.sub[k / 16 * 16 + output]);
            total += scale * (get_code(w.codes, t.bits, output, k) - t.offset) * x.codes[at + k];
        }
        return static_cast<float>(total);
    });
}

template <int T> inline vec small_minimums(const uint8_t* sub, int side) {
    return each([&](int lane) { return static_cast<float>(sub[16 + 8 * side + lane]); });
}

#endif

// Adds one block's products to totals (R, 16), for the outputs 8 * side to 8 * side + 7.
template <int T, int R>
inline void block_tile(const uint8_t* block, int side, const Rows& x, int64_t r0, int64_t k0, float* totals) {
    constexpr Traits t = traits_of(T);
    const vec scale = load_half(reinterpret_cast<const uint16_t*>(block) + 8 * side);
    const int64_t groups = x.columns / kGroup, g0 = k0 / kGroup;
    vec sums[R];
    for (int r = 0; r < R; ++r) sums[r] = t.sub ? all(0) : load(totals + r * kPanel + 8 * side);
    for (int g = 0; g < t.block / kGroup; ++g) {
        const uint8_t* sub = block + t.header() + g * t.group();
        const uint8_t* codes = sub + (t.sub ? 32 : 0);
#if LEAN_AVX2
        __m256i w[8];
        unpack<T>(codes + 32 * side, w);
        const Scales s = scales_of<T>(sub, side);
#else
        const Codes w{codes, side};
        const Scales s{sub, side};
#endif
        for (int r = 0; r < R; ++r) {
            const int64_t at = (r0 + r) * groups + g0 + g;
            vec product = group_sum<T>(w, s, x, at * kGroup, 2 * at);
            if constexpr (t.sub == 0) product = mul(product, scale);
            sums[r] = fma(product, all(x.scale[at]), sums[r]);
        }
    }
    const vec minimum = t.minimum ? load_half(reinterpret_cast<const uint16_t*>(block + 32) + 8 * side) : all(0);
    for (int r = 0; r < R; ++r) {
        float* total = totals + r * kPanel + 8 * side;
        const float* weighted = x.weighted + (r0 + r) * groups + g0;
        if constexpr (t.sub != 0) sums[r] = fma(scale, sums[r], load(total));
        if constexpr (t.sub != 0 && t.minimum) {
            vec below = all(0);
            for (int g = 0; g < t.block / kGroup; ++g)
                below = fma(small_minimums<T>(block + t.header() + g * t.group(), side), all(weighted[g]), below);
            sums[r] = fma(minimum, below, sums[r]);
        }
        if constexpr (t.sub == 0 && t.minimum) sums[r] = fma(minimum, all(weighted[0]), sums[r]);
        store(total, sums[r]);
    }
}

// totals (rows, 16) = one panel times all rows.
template <int T>
inline void panel_product(const uint8_t* panel, const Rows& x, int64_t rows, float* totals) {
    constexpr Traits t = traits_of(T);
    std::memset(totals, 0, rows * kPanel * sizeof(float));
    for (int64_t k = 0; k < x.columns; k += t.block, panel += t.bytes())
        for (int side = 0; side < 2; ++side) {
            int64_t r = 0;
            for (; r + kTile <= rows; r += kTile)
                block_tile<T, kTile>(panel, side, x, r, k, totals + r * kPanel);
            float* rest = totals + r * kPanel;
            if (rows - r == 3) block_tile<T, 3>(panel, side, x, r, k, rest);
            if (rows - r == 2) block_tile<T, 2>(panel, side, x, r, k, rest);
            if (rows - r == 1) block_tile<T, 1>(panel, side, x, r, k, rest);
        }
}

// The same for a matrix of floats: activations are not rounded.
template <int T>
inline void float_panel_product(const uint8_t* panel, const Rows& x, int64_t rows, float* totals) {
    for (int64_t r = 0; r < rows; ++r) {
        vec low = all(0), high = all(0);
        for (int64_t k = 0; k < x.columns; ++k) {
            const vec in = all(x.floats[r * x.columns + k]);
            if constexpr (T == F32) {
                const float* w = reinterpret_cast<const float*>(panel) + k * kPanel;
                low = fma(in, load(w), low), high = fma(in, load(w + 8), high);
            } else {
                const uint16_t* w = reinterpret_cast<const uint16_t*>(panel) + k * kPanel;
                low = fma(in, load_half(w), low), high = fma(in, load_half(w + 8), high);
            }
        }
        store(totals + r * kPanel, low), store(totals + r * kPanel + 8, high);
    }
}

inline void panel_product(int type, const uint8_t* panel, const Rows& x, int64_t rows, float* totals) {
    switch (type) {
        case F32: return float_panel_product<F32>(panel, x, rows, totals);
        case F16: return float_panel_product<F16>(panel, x, rows, totals);
        case Q4_0: return panel_product<Q4_0>(panel, x, rows, totals);
        case Q4_1: return panel_product<Q4_1>(panel, x, rows, totals);
        case Q5_0: return panel_product<Q5_0>(panel, x, rows, totals);
        case Q5_1: return panel_product<Q5_1>(panel, x, rows, totals);
        case Q8_0: return panel_product<Q8_0>(panel, x, rows, totals);
        case Q4_K: return panel_product<Q4_K>(panel, x, rows, totals);
        case Q5_K: return panel_product<Q5_K>(panel, x, rows, totals);
        case Q6_K: return panel_product<Q6_K>(panel, x, rows, totals);
        default: return;
    }
}

}  // namespace lean
