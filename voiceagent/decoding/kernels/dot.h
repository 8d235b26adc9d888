// The inner loop: eight outputs of one block against a few rows of 8-bit activations.
//
// Sums inside a group are whole numbers and therefore exact; between groups each row and output has
// one float accumulator, filled in the same order whatever the number of rows. So the result of a
// row does not depend on its company, and all paths below agree bit for bit.
#pragma once
#include "tiles.h"
#if defined(__AVXVNNI__) || (defined(__AVX512VNNI__) && defined(__AVX512VL__)) || defined(LEAN_EMULATE_VNNI)
#define LEAN_VNNI LEAN_AVX2
#else
#define LEAN_VNNI 0
#endif

namespace lean {

constexpr int kTile = 4;  // rows that share one unpacking of the weights

// Columns whose products are summed as whole numbers: the AVX2 path has only 16 bits for them.
constexpr int span_of(Traits t) { return t.split ? 16 : 32; }

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

// Two quads, 2 * kPair and the next, of eight outputs: codes points at their side of the group.
template <int T, int kPair> inline void unpack(const uint8_t* codes, __m256i& first, __m256i& second) {
    constexpr Traits t = traits_of(T);
    if constexpr (t.bits == 8) {
        first = bytes_at(codes + 128 * kPair), second = bytes_at(codes + 128 * kPair + 64);
        return;
    }
    const __m256i low = _mm256_set1_epi8(15), packed = bytes_at(codes + 64 * kPair);
    first = _mm256_and_si256(packed, low);
    second = _mm256_and_si256(_mm256_srli_epi16(packed, 4), low);
    if constexpr (t.bits == 5) {
        const __m256i bit = _mm256_set1_epi8(16), plane = bytes_at(codes + 256);
        first = _mm256_or_si256(first, _mm256_and_si256(shifted<4 - 2 * kPair>(plane), bit));
        second = _mm256_or_si256(second, _mm256_and_si256(shifted<3 - 2 * kPair>(plane), bit));
    }
    if constexpr (t.bits == 6) {
        constexpr int kUp = 4 - 4 * (kPair % 2);  // bits 0 to 3 hold the first pair of a plane
        const __m256i bits = _mm256_set1_epi8(48), plane = bytes_at(codes + 256 + 64 * (kPair / 2));
        first = _mm256_or_si256(first, _mm256_and_si256(shifted<kUp>(plane), bits));
        second = _mm256_or_si256(second, _mm256_and_si256(shifted<kUp - 2>(plane), bits));
    }
}

#if LEAN_VNNI

#if defined(LEAN_EMULATE_VNNI)
inline __m256i dot4(__m256i total, __m256i w, __m256i x) {
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

template <int T> constexpr int unsigned_offset() {  // the dot product wants unsigned codes
    return T == Q8_0 ? 128 : traits_of(T).offset;
}

// What the sum of a span begins with: minus the offset times the sum of its activations.
template <int T> inline __m256i span_start(const Rows& x, int64_t pair) {
    constexpr int kOffset = unsigned_offset<T>();
    if constexpr (kOffset == 0) return _mm256_setzero_si256();
    const __m256i offset = _mm256_set1_epi16(kOffset);
    __m256i start = _mm256_madd_epi16(broadcast(x.pairs + pair), offset);
    if constexpr (span_of(traits_of(T)) == 32)
        start = _mm256_add_epi32(start, _mm256_madd_epi16(broadcast(x.pairs + pair + 1), offset));
    return start;
}

template <int T> inline __m256i add_pair(__m256i sum, __m256i first, __m256i second, const Rows& x, int64_t at) {
    if constexpr (T == Q8_0) {
        const __m256i sign = _mm256_set1_epi8(-128);
        first = _mm256_xor_si256(first, sign), second = _mm256_xor_si256(second, sign);
    }
    return dot4(dot4(sum, first, broadcast(x.codes + at)), second, broadcast(x.codes + at + 4));
}

// The sub-scales of a span as floats; products with its sum stay below 2^24 and are exact.
struct SpanScale { vec value; };

template <int T> inline SpanScale span_scale(const uint8_t* sub, int span, int side) {
    constexpr Traits t = traits_of(T);
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(sub + (t.sub == 16 ? 16 * span : 0) + 8 * side));
    if constexpr (t.sub == 32) return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes))};
    if constexpr (t.sub == 16) return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes))};
    return {all(1)};
}

template <int T> inline vec span_sum(__m256i sum, const SpanScale& scale) {
    const vec whole = _mm256_cvtepi32_ps(sum);
    return traits_of(T).sub ? mul(whole, scale.value) : whole;
}

#else  // AVX2 alone: pairs of products in 16 bits, scaled while they are widened to 32

// Sums of 16 bits may wrap on the way: the last one fits (|code - offset| * 127 * terms < 2^15).
template <int T> inline __m256i span_start(const Rows& x, int64_t pair) {
    constexpr Traits t = traits_of(T);
    if constexpr (t.offset == 0) return _mm256_setzero_si256();
    __m256i negated = broadcast(x.pairs + pair);
    if constexpr (!t.split) negated = _mm256_add_epi16(negated, broadcast(x.pairs + pair + 1));
    return shifted<t.offset == 8 ? 3 : t.offset == 16 ? 4 : 5>(negated);
}

inline __m256i add_signed_quad(__m256i sum, __m256i w, const int16_t* wide) {
    const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8), odd = _mm256_srai_epi16(w, 8);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(even, broadcast(wide)));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(odd, broadcast(wide + 2)));
}

template <int T> inline __m256i add_pair(__m256i sum, __m256i first, __m256i second, const Rows& x, int64_t at) {
    if constexpr (T == Q8_0) return add_signed_quad(add_signed_quad(sum, first, x.wide + at), second, x.wide + at + 4);
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(first, broadcast(x.codes + at)));
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(second, broadcast(x.codes + at + 4)));
}

struct SpanScale { __m256i value; };  // 16-bit, each twice

template <int T> inline SpanScale span_scale(const uint8_t* sub, int span, int side) {
    constexpr Traits t = traits_of(T);
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(sub + (t.sub == 16 ? 16 * span : 0) + 8 * side));
    const __m128i twice = _mm_unpacklo_epi8(bytes, bytes);
    if constexpr (t.sub == 32) return {_mm256_cvtepu8_epi16(twice)};
    if constexpr (t.sub == 16) return {_mm256_cvtepi8_epi16(twice)};
    return {_mm256_set1_epi16(1)};
}

template <int T> inline vec span_sum(__m256i sum, const SpanScale& scale) {
    return _mm256_cvtepi32_ps(T == Q8_0 ? sum : _mm256_madd_epi16(sum, scale.value));
}

#endif

template <int T> inline vec small_minimums(const uint8_t* sub, int side) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(sub + 16 + 8 * side));
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}

// Adds the products of pair kPair of the group to all sums (R rows, two sides).
template <int T, int R, int kPair>
inline void pair_tile(const uint8_t* codes, const Rows& x, const int64_t (&at)[R], __m256i (&sums)[R][2]) {
    __m256i left[2], right[2];
    unpack<T, kPair>(codes, left[0], left[1]);
    unpack<T, kPair>(codes + 32, right[0], right[1]);
    for (int r = 0; r < R; ++r) {
        sums[r][0] = add_pair<T>(sums[r][0], left[0], left[1], x, at[r] + 8 * kPair);
        sums[r][1] = add_pair<T>(sums[r][1], right[0], right[1], x, at[r] + 8 * kPair);
    }
}

// Scales the sums of a span and adds them to the accumulators (R, 16).
template <int T, int R>
inline void finish_span(
    const uint8_t* sub, int span, const Rows& x, const int64_t (&at)[R], const vec (&scale)[2],
    const __m256i (&sums)[R][2], float* accumulators
) {
    for (int side = 0; side < 2; ++side) {
        const SpanScale small = span_scale<T>(sub, span, side);
        for (int r = 0; r < R; ++r) {
            float* place = accumulators + r * kPanel + 8 * side;
            vec product = span_sum<T>(sums[r][side], small);
            if constexpr (traits_of(T).sub == 0) product = mul(product, scale[side]);
            store(place, fma(product, all(x.scale[at[r] / kGroup]), load(place)));
        }
    }
}

template <int T, int R>
inline void group_tile(
    const uint8_t* sub, const uint8_t* codes, const Rows& x, const int64_t (&at)[R],
    const vec (&scale)[2], float* accumulators
) {
    __m256i sums[R][2];
    for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = span_start<T>(x, at[r] / 16);
    pair_tile<T, R, 0>(codes, x, at, sums);
    pair_tile<T, R, 1>(codes, x, at, sums);
    if constexpr (traits_of(T).split) {
        finish_span<T, R>(sub, 0, x, at, scale, sums, accumulators);
        for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = span_start<T>(x, at[r] / 16 + 1);
    }
    pair_tile<T, R, 2>(codes, x, at, sums);
    pair_tile<T, R, 3>(codes, x, at, sums);
    finish_span<T, R>(sub, traits_of(T).split ? 1 : 0, x, at, scale, sums, accumulators);
}

#else  // no AVX2: the same sums in plain C++

template <int T> inline vec small_minimums(const uint8_t* sub, int side) {
    return each([&](int lane) { return static_cast<float>(sub[16 + 8 * side + lane]); });
}

template <int T, int R>
inline void group_tile(
    const uint8_t* sub, const uint8_t* codes, const Rows& x, const int64_t (&at)[R],
    const vec (&scale)[2], float* accumulators
) {
    constexpr Traits t = traits_of(T);
    constexpr int kSpan = span_of(t);
    for (int r = 0; r < R; ++r)
        for (int output = 0; output < kPanel; ++output)
            for (int span = 0; span < kGroup / kSpan; ++span) {
                int64_t sum = 0;
                for (int k = span * kSpan; k < (span + 1) * kSpan; ++k)
                    sum += (get_code(codes, t.bits, output, k) - t.offset) * x.codes[at[r] + k];
                if (t.sub == 32) sum *= sub[output];
                if (t.sub == 16) sum *= static_cast<int8_t>(sub[span * 16 + output]);
                float product = static_cast<float>(sum);
                if (t.sub == 0) product *= scale[output / 8].lane[output % 8];
                float& place = accumulators[r * kPanel + output];
                place = std::fma(product, x.scale[at[r] / kGroup], place);
            }
}

#endif

// Adds one block's products to totals (R, 16).
template <int T, int R>
inline void block_tile(const uint8_t* block, const Rows& x, int64_t r0, int64_t k0, float* totals) {
    constexpr Traits t = traits_of(T);
    const uint16_t* halves = reinterpret_cast<const uint16_t*>(block);
    const vec scale[2] = {load_half(halves), load_half(halves + 8)};
    alignas(32) float within[R * kPanel];  // K types: the block's scale comes last
    if constexpr (t.sub != 0) std::memset(within, 0, sizeof within);
    float* accumulators = t.sub ? within : totals;
    int64_t at[R];
    for (int r = 0; r < R; ++r) at[r] = (r0 + r) * x.columns + k0;
    for (int g = 0; g < t.block / kGroup; ++g) {
        const uint8_t* sub = block + t.header() + g * t.group();
        group_tile<T, R>(sub, sub + (t.sub ? 32 : 0), x, at, scale, accumulators);
        for (int r = 0; r < R; ++r) at[r] += kGroup;
    }
    for (int side = 0; side < 2; ++side) {
        const vec minimum = t.minimum ? load_half(halves + 16 + 8 * side) : all(0);
        for (int r = 0; r < R; ++r) {
            float* total = totals + r * kPanel + 8 * side;
            const float* weighted = x.weighted + ((r0 + r) * x.columns + k0) / kGroup;
            vec sum = load(total);
            if constexpr (t.sub != 0) sum = fma(scale[side], load(within + r * kPanel + 8 * side), sum);
            if constexpr (t.sub != 0 && t.minimum) {
                vec below = all(0);
                for (int g = 0; g < t.block / kGroup; ++g)
                    below = fma(small_minimums<T>(block + t.header() + g * t.group(), side), all(weighted[g]), below);
                sum = fma(minimum, below, sum);
            }
            if constexpr (t.sub == 0 && t.minimum) sum = fma(minimum, all(weighted[0]), sum);
            if constexpr (t.sub != 0 || t.minimum) store(total, sum);
        }
    }
}

// totals (rows, 16) = one panel times all rows.
template <int T>
inline void panel_product(const uint8_t* panel, const Rows& x, int64_t rows, float* totals) {
#if LEAN_TILES
    if (rows >= tiles::kFewest && tiles::granted()) return tiles::panel_product<T>(panel, x, rows, totals);
#endif
#if LEAN_WIDE
    return wide::panel_product<T>(panel, x, rows, totals);
#endif
    constexpr Traits t = traits_of(T);
    std::memset(totals, 0, rows * kPanel * sizeof(float));
    for (int64_t k = 0; k < x.columns; k += t.block, panel += t.bytes()) {
        int64_t r = 0;
        for (; r + kTile <= rows; r += kTile) block_tile<T, kTile>(panel, x, r, k, totals + r * kPanel);
        float* rest = totals + r * kPanel;
        if (rows - r == 3) block_tile<T, 3>(panel, x, r, k, rest);
        if (rows - r == 2) block_tile<T, 2>(panel, x, r, k, rest);
        if (rows - r == 1) block_tile<T, 1>(panel, x, r, k, rest);
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
