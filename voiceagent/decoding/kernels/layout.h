// How a matrix lies in memory once it is packed.
//
// A panel holds 16 outputs (rows of the matrix) and all inputs (columns). It is a sequence of
// blocks of 32 or 256 columns, read front to back, once, by one thread:
//
//   block:  float16 scale[16], float16 minimum[16] if the type has minimums,
//           then for each group of 32 columns:
//             K types:  sub-scales (and sub-minimums), 32 bytes
//             codes:    bits * 64 bytes, see below
//
// Codes come in eight quads of four columns. A quad is 64 bytes, byte 4 * output + column, so that
// one 32-byte load holds four columns of eight outputs: the operand of a byte dot product.
//   4 low bits: quad 2v in the low, quad 2v + 1 in the high nibbles of vector v (of four)
//   fifth bit:  bit q of one further vector belongs to quad q
//   bits 5, 6:  bits 2t, 2t + 1 of further vector u (of two) belong to quad 4u + t
//   8 bits:     eight vectors of signed codes
// F16 and F32 matrices are stored column by column, 16 outputs each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lean {

constexpr int kPanel = 16;      // outputs of a panel
constexpr int kGroup = 32;      // columns that share an activation scale
constexpr int kSuper = 256;     // columns of a K block

// The numbers of the GGUF format.
enum Type : int32_t {
    F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q5_0 = 6, Q5_1 = 7, Q8_0 = 8, Q4_K = 12, Q5_K = 13,
    Q6_K = 14,
};

// What a value is made of: scale * (code - offset) + minimum.
struct Traits {
    int bits, offset, block;
    bool minimum;
    int sub;     // columns that share a sub-scale: 0 (none), 16 or 32
    bool split;  // sum the two halves of a group apart, lest a 16-bit sum overflows

    constexpr int codes() const { return bits * 64; }
    constexpr int header() const { return 32 + (minimum ? 32 : 0); }
    constexpr int group() const { return codes() + (sub ? 32 : 0); }
    constexpr int bytes() const { return header() + block / kGroup * group(); }
};

constexpr Traits traits_of(int type) {
    switch (type) {
        case Q4_0: return {4, 8, 32, false, 0, false};
        case Q4_1: return {4, 0, 32, true, 0, false};
        case Q5_0: return {5, 16, 32, false, 0, false};
        case Q5_1: return {5, 0, 32, true, 0, true};
        case Q8_0: return {8, 0, 32, false, 0, false};
        case Q4_K: return {4, 0, 256, true, 32, false};
        case Q5_K: return {5, 0, 256, true, 32, true};
        case Q6_K: return {6, 32, 256, false, 16, true};
        default: return {0, 0, 1, false, 0, false};
    }
}

inline bool is_float(int type) { return type == F32 || type == F16; }

inline int64_t panel_bytes(int type, int64_t columns) {
    if (is_float(type)) return columns * kPanel * (type == F32 ? 4 : 2);
    constexpr int64_t kLine = 64;  // panels begin on a cache line
    const Traits t = traits_of(type);
    return (columns / t.block * t.bytes() + kLine - 1) / kLine * kLine;
}

inline float half_to_float(uint16_t half) {
    _Float16 value;
    std::memcpy(&value, &half, 2);
    return static_cast<float>(value);
}

inline uint16_t float_to_half(float value) {
    const _Float16 half = static_cast<_Float16>(value);
    uint16_t bits;
    std::memcpy(&bits, &half, 2);
    return bits;
}

// Writes one code (already without offset where bits == 8) into the codes of a group.
inline void put_code(uint8_t* codes, int bits, int output, int column, int code) {
    const int quad = column / 4, at = 4 * output + column % 4;
    if (bits == 8) {
        codes[quad * 64 + at] = static_cast<uint8_t>(code);
        return;
    }
    codes[quad / 2 * 64 + at] |= static_cast<uint8_t>((code & 15) << (quad % 2 * 4));
    if (bits == 5) codes[256 + at] |= static_cast<uint8_t>((code >> 4) << quad);
    if (bits == 6) codes[256 + quad / 4 * 64 + at] |= static_cast<uint8_t>((code >> 4) << (quad % 4 * 2));
}

inline int get_code(const uint8_t* codes, int bits, int output, int column) {
    const int quad = column / 4, at = 4 * output + column % 4;
    if (bits == 8) return static_cast<int8_t>(codes[quad * 64 + at]);
    int code = codes[quad / 2 * 64 + at] >> (quad % 2 * 4) & 15;
    if (bits == 5) code |= (codes[256 + at] >> quad & 1) << 4;
    if (bits == 6) code |= (codes[256 + quad / 4 * 64 + at] >> (quad % 4 * 2) & 3) << 4;
    return code;
}

// One output of one block, as floats, in the order in which ggml multiplies and adds.
inline void unpack_block(int type, const uint8_t* block, int output, float* values) {
    const Traits t = traits_of(type);
    uint16_t half;
    std::memcpy(&half, block + 2 * output, 2);
    const float scale = half_to_float(half);
    float minimum = 0;
    if (t.minimum) {
        std::memcpy(&half, block + 32 + 2 * output, 2);
        minimum = half_to_float(half);
    }
    for (int g = 0; g < t.block / kGroup; ++g) {
        const uint8_t* sub = block + t.header() + g * t.group();
        const uint8_t* codes = sub + (t.sub ? 32 : 0);
        for (int k = 0; k < kGroup; ++k) {
            float s = scale, m = minimum;
            if (t.sub == 32) s *= sub[output], m *= sub[16 + output];
            if (t.sub == 16) s *= static_cast<int8_t>(sub[k / 16 * 16 + output]);
            const float product = static_cast<float>(get_code(codes, t.bits, output, k) - t.offset) * s;
            values[g * kGroup + k] = t.minimum ? product + m : product;
        }
    }
}

}  // namespace lean
