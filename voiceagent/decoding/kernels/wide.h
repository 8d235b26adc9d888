// The inner loop where registers hold 512 bits: all sixteen outputs of a panel at once.
//
// The layout of a panel is made for it: a quad of columns is one register. Everything that a tile of
// rows adds up stays in registers for the whole panel; numbers are added in the order of dot.h, so
// the results are the same bits.
#pragma once
#include "rows.h"
#if LEAN_AVX2 && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VNNI__)
#define LEAN_WIDE 1
#else
#define LEAN_WIDE 0
#endif

#if LEAN_WIDE

namespace lean::wide {

constexpr int kTile = 8;          // rows that share one unpacking of the weights
constexpr int kAhead = 8192;      // bytes of weights asked for in advance: the memory answers late
constexpr int kQuads = kGroup / 4;

template <int T> constexpr int unsigned_offset() {  // the dot product wants unsigned codes
    return T == Q8_0 ? 128 : traits_of(T).offset;
}

inline __m512i bytes_at(const void* at) { return _mm512_loadu_si512(at); }

inline __m512i broadcast(const void* at) {  // four bytes to all lanes
    int32_t word;
    std::memcpy(&word, at, 4);
    return _mm512_set1_epi32(word);
}

inline __m512 widen_half(const void* at) { return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(at))); }

inline __m512 widen_bytes(const uint8_t* at, bool negative) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return _mm512_cvtepi32_ps(negative ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
}

template <int kShift> inline __m512i shifted(__m512i v) {  // left, or right if negative
    if constexpr (kShift >= 0) return _mm512_slli_epi16(v, kShift);
    else return _mm512_srli_epi16(v, -kShift);
}

// Quads 2 * kPair and the next.
template <int T, int kPair> inline void unpack_pair(const uint8_t* codes, __m512i* quads) {
    constexpr Traits t = traits_of(T);
    if constexpr (t.bits == 8) {
        const __m512i sign = _mm512_set1_epi8(-128);
        quads[0] = _mm512_xor_si512(bytes_at(codes + 128 * kPair), sign);
        quads[1] = _mm512_xor_si512(bytes_at(codes + 128 * kPair + 64), sign);
        return;
    }
    const __m512i low = _mm512_set1_epi8(15), packed = bytes_at(codes + 64 * kPair);
    quads[0] = _mm512_and_si512(packed, low);
    quads[1] = _mm512_and_si512(_mm512_srli_epi16(packed, 4), low);
    constexpr int kOrAnd = 0xEA;  // (a & b) | c, as a truth table
    if constexpr (t.bits == 5) {
        const __m512i bit = _mm512_set1_epi8(16), plane = bytes_at(codes + 256);
        quads[0] = _mm512_ternarylogic_epi32(shifted<4 - 2 * kPair>(plane), bit, quads[0], kOrAnd);
        quads[1] = _mm512_ternarylogic_epi32(shifted<3 - 2 * kPair>(plane), bit, quads[1], kOrAnd);
    }
    if constexpr (t.bits == 6) {
        constexpr int kUp = 4 - 4 * (kPair % 2);  // bits 0 to 3 hold the first pair of a plane
        const __m512i bits = _mm512_set1_epi8(48), plane = bytes_at(codes + 256 + 64 * (kPair / 2));
        quads[0] = _mm512_ternarylogic_epi32(shifted<kUp>(plane), bits, quads[0], kOrAnd);
        quads[1] = _mm512_ternarylogic_epi32(shifted<kUp - 2>(plane), bits, quads[1], kOrAnd);
    }
}

template <int T> inline void unpack(const uint8_t* codes, __m512i (&quads)[kQuads]) {
    unpack_pair<T, 0>(codes, quads);
    unpack_pair<T, 1>(codes, quads + 2);
    unpack_pair<T, 2>(codes, quads + 4);
    unpack_pair<T, 3>(codes, quads + 6);
}

// The whole-number sum of kCount quads for one row; `pairs` holds the negated sums of its codes.
template <int T, int kCount>
inline __m512i span_sum(const __m512i* quads, const int8_t* codes, const int32_t* pairs) {
    constexpr int kOffset = unsigned_offset<T>();
    __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
    if constexpr (kOffset != 0) {
        const __m512i offset = _mm512_set1_epi16(kOffset);
        even = _mm512_madd_epi16(broadcast(pairs), offset);
        if constexpr (kCount == kQuads) odd = _mm512_madd_epi16(broadcast(pairs + 1), offset);
    }
    for (int q = 0; q < kCount; q += 2) {
        even = _mm512_dpbusd_epi32(even, quads[q], broadcast(codes + 4 * q));
        odd = _mm512_dpbusd_epi32(odd, quads[q + 1], broadcast(codes + 4 * q + 4));
    }
    return _mm512_add_epi32(even, odd);
}

// What a tile of rows has added up so far.
template <int R> struct Sums {
    __m512 total[R], within[R], below[R];
};

template <int T, int R>
inline void add_group(const uint8_t* group, const Rows& x, int64_t r0, int64_t k, __m512 scale, Sums<R>& sums) {
    constexpr Traits t = traits_of(T);
    __m512i quads[kQuads];
    unpack<T>(group + (t.sub ? 32 : 0), quads);
    constexpr int kSpans = t.split ? 2 : 1, kCount = kQuads / kSpans;
    for (int span = 0; span < kSpans; ++span) {
        const uint8_t* sub = group + (t.sub == 16 ? 16 * span : 0);
        const __m512 small = t.sub ? widen_bytes(sub, t.sub == 16) : scale;
        for (int r = 0; r < R; ++r) {
            const int64_t at = (r0 + r) * x.columns + k;
            const __m512i sum = span_sum<T, kCount>(
                quads + span * kCount, x.codes + at + 16 * span, x.pairs + at / 16 + span);
            const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), small);
            __m512& place = t.sub ? sums.within[r] : sums.total[r];
            place = _mm512_fmadd_ps(product, _mm512_set1_ps(x.scale[at / kGroup]), place);
        }
    }
    if constexpr (t.sub != 0 && t.minimum) {
        const __m512 minimum = widen_bytes(group + 16, false);
        for (int r = 0; r < R; ++r) {
            const float weighted = x.weighted[((r0 + r) * x.columns + k) / kGroup];
            sums.below[r] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(weighted), sums.below[r]);
        }
    }
}

template <int T, int R>
inline void add_block(const uint8_t* block, const Rows& x, int64_t r0, int64_t k, Sums<R>& sums) {
    constexpr Traits t = traits_of(T);
    const __m512 scale = widen_half(block);
    for (int r = 0; r < R; ++r) sums.within[r] = sums.below[r] = _mm512_setzero_ps();
    for (int g = 0; g < t.block / kGroup; ++g) {
        const uint8_t* group = block + t.header() + g * t.group();
        for (int line = 0; line < t.group(); line += 64) _mm_prefetch(group + kAhead + line, _MM_HINT_T0);
        add_group<T, R>(group, x, r0, k + g * kGroup, scale, sums);
    }
    const __m512 minimum = t.minimum ? widen_half(block + 32) : _mm512_setzero_ps();
    for (int r = 0; r < R; ++r) {
        if constexpr (t.sub != 0) sums.total[r] = _mm512_fmadd_ps(scale, sums.within[r], sums.total[r]);
        if constexpr (t.sub != 0 && t.minimum) sums.total[r] = _mm512_fmadd_ps(minimum, sums.below[r], sums.total[r]);
        if constexpr (t.sub == 0 && t.minimum) {
            const float weighted = x.weighted[((r0 + r) * x.columns + k) / kGroup];
            sums.total[r] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(weighted), sums.total[r]);
        }
    }
}

template <int T, int R>
inline void panel_tile(const uint8_t* panel, const Rows& x, int64_t r0, float* totals) {
    constexpr Traits t = traits_of(T);
    Sums<R> sums;
    for (int r = 0; r < R; ++r) sums.total[r] = _mm512_setzero_ps();
    for (int64_t k = 0; k < x.columns; k += t.block, panel += t.bytes()) add_block<T, R>(panel, x, r0, k, sums);
    for (int r = 0; r < R; ++r) _mm512_storeu_ps(totals + r * kPanel, sums.total[r]);
}

// totals (rows, 16) = one panel times all rows.
template <int T>
inline void panel_product(const uint8_t* panel, const Rows& x, int64_t rows, float* totals) {
    int64_t r = 0;
    for (; r + kTile <= rows; r += kTile) panel_tile<T, kTile>(panel, x, r, totals + r * kPanel);
    float* rest = totals + r * kPanel;
    switch (rows - r) {
        case 1: return panel_tile<T, 1>(panel, x, r, rest);
        case 2: return panel_tile<T, 2>(panel, x, r, rest);
        case 3: return panel_tile<T, 3>(panel, x, r, rest);
        case 4: return panel_tile<T, 4>(panel, x, r, rest);
        case 5: return panel_tile<T, 5>(panel, x, r, rest);
        case 6: return panel_tile<T, 6>(panel, x, r, rest);
        case 7: return panel_tile<T, 7>(panel, x, r, rest);
        default: return;
    }
}

}  // namespace lean::wide

#endif
