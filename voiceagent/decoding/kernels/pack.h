// GGUF blocks to panels, without any loss: codes and scales are only moved.
#pragma once
#include "layout.h"

namespace lean {

// One block of one row, taken apart (the bit layouts of ggml's block structs).
struct Parts {
    uint16_t scale = 0, minimum = 0;
    int codes[kSuper];
    int sub_scale[16];
    int sub_minimum[8];
};

inline uint16_t read_half(const uint8_t* at) {
    uint16_t half;
    std::memcpy(&half, at, 2);
    return half;
}

inline void read_nibbles(const uint8_t* packed, int* codes) {
    for (int i = 0; i < 16; ++i) codes[i] = packed[i] & 15, codes[16 + i] = packed[i] >> 4;
}

inline void read_fifth_bits(const uint8_t* packed, int* codes) {
    for (int i = 0; i < 32; ++i) codes[i] |= (packed[i / 8] >> (i % 8) & 1) << 4;
}

inline void read_k_scales(const uint8_t* packed, Parts& p) {
    for (int i = 0; i < 4; ++i) {
        p.sub_scale[i] = packed[i] & 63;
        p.sub_minimum[i] = packed[4 + i] & 63;
        p.sub_scale[4 + i] = (packed[8 + i] & 15) | (packed[i] >> 6) << 4;
        p.sub_minimum[4 + i] = packed[8 + i] >> 4 | (packed[4 + i] >> 6) << 4;
    }
}

inline void read_k_nibbles(const uint8_t* packed, int* codes) {
    for (int i = 0; i < 128; ++i) {
        const int at = i / 32 * 64 + i % 32;
        codes[at] = packed[i] & 15, codes[at + 32] = packed[i] >> 4;
    }
}

inline void read_k4_or_k5(const uint8_t* b, bool five, Parts& p) {
    p.scale = read_half(b);
    p.minimum = read_half(b + 2) ^ 0x8000;  // the file's minimum is taken away, ours is added
    read_k_scales(b + 4, p);
    read_k_nibbles(b + (five ? 48 : 16), p.codes);
    if (!five) return;
    for (int i = 0; i < kSuper; ++i) p.codes[i] |= (b[16 + i % 32] >> (i / 32) & 1) << 4;
}

inline void read_k6(const uint8_t* b, Parts& p) {
    for (int half = 0; half < 2; ++half) {
        const uint8_t *low = b + 64 * half, *high = b + 128 + 32 * half;
        for (int i = 0; i < 128; ++i) {
            const int nibble = low[i % 64] >> (i / 64 * 4) & 15;
            p.codes[128 * half + i] = nibble | (high[i % 32] >> (i / 32 * 2) & 3) << 4;
        }
    }
    for (int i = 0; i < 16; ++i) p.sub_scale[i] = static_cast<int8_t>(b[192 + i]);
    p.scale = read_half(b + 208);
}

inline int source_bytes(int type) {  // of a block
    switch (type) {
        case Q4_0: return 18;
        case Q4_1: return 20;
        case Q5_0: return 22;
        case Q5_1: return 24;
        case Q8_0: return 34;
        case Q4_K: return 144;
        case Q5_K: return 176;
        case Q6_K: return 210;
        case F16: return 2;
        default: return 4;
    }
}

inline void read_parts(int type, const uint8_t* b, Parts& p) {
    const bool minimum = type == Q4_1 || type == Q5_1;
    switch (type) {
        case Q4_K: return read_k4_or_k5(b, false, p);
        case Q5_K: return read_k4_or_k5(b, true, p);
        case Q6_K: return read_k6(b, p);
        default: break;
    }
    p.scale = read_half(b);
    if (minimum) p.minimum = read_half(b + 2);
    b += minimum ? 4 : 2;
    if (type == Q8_0) {
        for (int i = 0; i < 32; ++i) p.codes[i] = static_cast<int8_t>(b[i]);
        return;
    }
    const bool five = type == Q5_0 || type == Q5_1;
    read_nibbles(b + (five ? 4 : 0), p.codes);
    if (five) read_fifth_bits(b, p.codes);
}

inline void write_parts(int type, const Parts& p, int output, uint8_t* block) {
    const Traits t = traits_of(type);
    std::memcpy(block + 2 * output, &p.scale, 2);
    if (t.minimum) std::memcpy(block + 32 + 2 * output, &p.minimum, 2);
    for (int g = 0; g < t.block / kGroup; ++g) {
        uint8_t* sub = block + t.header() + g * t.group();
        if (t.sub == 32) {
            sub[output] = static_cast<uint8_t>(p.sub_scale[g]);
            sub[16 + output] = static_cast<uint8_t>(p.sub_minimum[g]);
        }
        if (t.sub == 16) {
            sub[output] = static_cast<uint8_t>(p.sub_scale[2 * g]);
            sub[16 + output] = static_cast<uint8_t>(p.sub_scale[2 * g + 1]);
        }
        uint8_t* codes = sub + (t.sub ? 32 : 0);
        for (int k = 0; k < kGroup; ++k)
            put_code(codes, t.bits, output, k, p.codes[g * kGroup + k]);
    }
}

// One panel from the rows rows[0..outputs); missing outputs stay zero.
inline void pack_panel(
    int type, int64_t columns, const uint8_t* const* rows, int outputs, uint8_t* panel
) {
    std::memset(panel, 0, panel_bytes(type, columns));
    if (is_float(type)) {
        const int size = type == F32 ? 4 : 2;
        for (int o = 0; o < outputs; ++o)
            for (int64_t k = 0; k < columns; ++k)
                std::memcpy(panel + (k * kPanel + o) * size, rows[o] + k * size, size);
        return;
    }
    const Traits t = traits_of(type);
    Parts parts;
    for (int64_t b = 0; b < columns / t.block; ++b)
        for (int o = 0; o < outputs; ++o) {
            read_parts(type, rows[o] + b * source_bytes(type), parts);
            write_parts(type, parts, o, panel + b * t.bytes());
        }
}

}  // namespace lean
