// The inner loop for many rows on processors with matrix tiles (Intel AMX): sixteen rows of
// activations times one group of sixteen outputs is one instruction.
//
// The sums are whole numbers, and what follows them is done in the order of dot.h: the same bits.
#pragma once
#include "wide.h"
#if LEAN_WIDE && defined(__AMX_INT8__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#define LEAN_TILES 1
#else
#define LEAN_TILES 0
#endif

#if LEAN_TILES

namespace lean::tiles {

constexpr int64_t kRows = 16;     // of a tile
constexpr int64_t kFewest = 12;   // rows; below, wide.h is quicker
constexpr int kRun = 8;           // groups whose codes are unpacked together: one K block

// The system wants to be asked before a process uses tiles: once, before the threads begin.
inline bool granted() {
    constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    static const bool yes = syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
    return yes;
}

// Tiles 0, 1: sums and activations of sixteen rows; 2, 3: of the rows that are left; 4: weights.
struct alignas(64) Shape {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {};
    uint8_t rows[16] = {};

    void set(int tile, int64_t tile_rows, int tile_bytes) {
        rows[tile] = static_cast<uint8_t>(tile_rows);
        bytes[tile] = static_cast<uint16_t>(tile_bytes);
    }
};

template <int T> constexpr int spans() { return traits_of(T).split ? 2 : 1; }
template <int T> constexpr int quads() { return kGroup / 4 / spans<T>(); }

template <int T> inline void configure(int64_t rest) {
    Shape shape;
    shape.set(0, kRows, 64), shape.set(1, kRows, 4 * quads<T>());
    if (rest) shape.set(2, rest, 64), shape.set(3, rest, 4 * quads<T>());
    shape.set(4, quads<T>(), 64);
    _tile_loadconfig(&shape);
}

// Some groups of one panel, ready to be multiplied.
template <int T> struct Run {
    alignas(64) int8_t codes[kRun][kGroup / 4][64];  // signed
    __m512 small[kRun][2];      // scale of each span: the sub-scale, or the block's own
    __m512 minimum[kRun];       // sub-minimum, or the block's own
    __m512 scale, below;        // K types: of the whole block

    void unpack_group(const uint8_t* group, int g, const uint8_t* block) {
        constexpr Traits t = traits_of(T);
        __m512i unsigned_codes[kGroup / 4];
        wide::unpack<T>(group + (t.sub ? 32 : 0), unsigned_codes);
        const __m512i offset = _mm512_set1_epi8(static_cast<char>(wide::unsigned_offset<T>()));
        for (int q = 0; q < kGroup / 4; ++q)
            _mm512_store_si512(codes[g][q], _mm512_sub_epi8(unsigned_codes[q], offset));
        for (int span = 0; span < spans<T>(); ++span) {
            const uint8_t* sub = group + (t.sub == 16 ? 16 * span : 0);
            small[g][span] = t.sub ? wide::widen_bytes(sub, t.sub == 16) : wide::widen_half(block);
        }
        if constexpr (t.minimum) minimum[g] = t.sub ? wide::widen_bytes(group + 16, false) : wide::widen_half(block + 32);
    }

    const uint8_t* unpack(const uint8_t* block, int groups) {
        constexpr Traits t = traits_of(T);
        if constexpr (t.sub != 0) {
            scale = wide::widen_half(block);
            if (t.minimum) below = wide::widen_half(block + 32);
        }
        constexpr int kOfBlock = t.block / kGroup;
        for (int g = 0; g < groups; ++g) {
            const uint8_t* group = block + t.header() + g % kOfBlock * t.group();
            for (int line = 0; line < t.group(); line += 64) _mm_prefetch(group + wide::kAhead + line, _MM_HINT_T0);
            unpack_group(group, g, block);
            if ((g + 1) % kOfBlock == 0) block += t.bytes();
        }
        return block;
    }
};

// Adds the products of a run to the totals of one row; sums: (groups, spans, kRows, 16).
template <int T>
inline void add_row(const Run<T>& run, int groups, const int32_t* sums, const float* scale, const float* weighted, float* total_at) {
    constexpr Traits t = traits_of(T);
    __m512 total = _mm512_loadu_ps(total_at), within = _mm512_setzero_ps(), below = _mm512_setzero_ps();
    __m512& place = t.sub ? within : total;
    for (int g = 0; g < groups; ++g) {
        for (int span = 0; span < spans<T>(); ++span) {
            const __m512i sum = _mm512_load_si512(sums + (g * spans<T>() + span) * kRows * kPanel);
            const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), run.small[g][span]);
            place = _mm512_fmadd_ps(product, _mm512_set1_ps(scale[g]), place);
        }
        if constexpr (t.minimum) {
            __m512& sunk = t.sub ? below : total;
            sunk = _mm512_fmadd_ps(run.minimum[g], _mm512_set1_ps(weighted[g]), sunk);
        }
    }
    if constexpr (t.sub != 0) total = _mm512_fmadd_ps(run.scale, within, total);
    if constexpr (t.sub != 0 && t.minimum) total = _mm512_fmadd_ps(run.below, below, total);
    _mm512_storeu_ps(total_at, total);
}

template <int T>
inline void multiply(const Run<T>& run, int groups, const int8_t* codes, int64_t stride, bool whole, int32_t* sums) {
    for (int at = 0; at < groups * spans<T>(); ++at) {
        const int g = at / spans<T>(), first = at % spans<T>() * quads<T>();
        int32_t* out = sums + at * kRows * kPanel;
        _tile_loadd(4, run.codes[g][first], 64);
        if (whole) {
            _tile_zero(0);
            _tile_loadd(1, codes + g * kGroup + 4 * first, stride);
            _tile_dpbssd(0, 1, 4);
            _tile_stored(0, out, 64);
        } else {
            _tile_zero(2);
            _tile_loadd(3, codes + g * kGroup + 4 * first, stride);
            _tile_dpbssd(2, 3, 4);
            _tile_stored(2, out, 64);
        }
    }
}

// totals (rows, 16) = one panel times all rows.
template <int T>
inline void panel_product(const uint8_t* panel, const Rows& x, int64_t rows, float* totals) {
    alignas(64) int32_t sums[kRun * spans<T>() * kRows * kPanel];
    Run<T> run;
    configure<T>(rows % kRows);
    std::memset(totals, 0, rows * kPanel * sizeof(float));
    for (int64_t k = 0; k < x.columns; k += kRun * kGroup) {
        const int64_t left = (x.columns - k) / kGroup;
        const int groups = static_cast<int>(left < kRun ? left : kRun);
        panel = run.unpack(panel, groups);
        for (int64_t r0 = 0; r0 < rows; r0 += kRows) {
            const int64_t count = rows - r0 < kRows ? rows - r0 : kRows;
            multiply(run, groups, x.codes + r0 * x.columns + k, x.columns, count == kRows, sums);
            for (int64_t r = 0; r < count; ++r) {
                const int64_t at = ((r0 + r) * x.columns + k) / kGroup;
                add_row(run, groups, sums + r * kPanel, x.scale + at, x.weighted + at, totals + (r0 + r) * kPanel);
            }
        }
    }
    _tile_release();
}

}  // namespace lean::tiles

#endif
