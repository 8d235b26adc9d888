// Matrices side by side that read the same activations, as one stage.
#pragma once
#include "dot.h"
#include "team.h"

namespace lean {

struct Matrix {
    const uint8_t* panels;
    int64_t outputs, columns, bytes;  // bytes of a panel
    int32_t type, unused;
};

struct Projection {
    Matrix part[3];
    int64_t parts;
    const float* bias;  // over all outputs, or null

    int64_t outputs() const {
        int64_t total = 0;
        for (int64_t p = 0; p < parts; ++p) total += part[p].outputs;
        return total;
    }
};

inline int64_t panels_of(const Matrix& m) { return (m.outputs + kPanel - 1) / kPanel; }

// out (rows, stride) = or += projection of x, for one panel.
inline void project_panel(
    const Matrix& m, int64_t panel, const Rows& x, int64_t rows, const float* bias, bool accumulate,
    float* out, int64_t stride, float* totals
) {
    panel_product(m.type, m.panels + panel * m.bytes, x, rows, totals);
    const int64_t first = panel * kPanel;
    const int64_t lanes = m.outputs - first < kPanel ? m.outputs - first : kPanel;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < lanes; ++i) {
            float value = totals[r * kPanel + i];
            if (bias) value += bias[first + i];
            float& place = out[r * stride + first + i];
            place = accumulate ? place + value : value;
        }
}

// About 64 KB of weights at a time: long enough to stream, short enough to share out evenly.
inline int64_t piece_of(const Matrix& m, int64_t panels, int threads) {
    const int64_t fair = panels / (4 * threads), large = 65536 / m.bytes;
    const int64_t piece = fair < large ? fair : large;
    return piece < 1 ? 1 : piece;
}

inline void project(
    const Projection& p, const Rows& x, int64_t rows, bool accumulate, float* out, int64_t stride,
    const Team& team, Stage& stage, float* totals
) {
    int64_t count = 0;
    for (int64_t i = 0; i < p.parts; ++i) count += panels_of(p.part[i]);
    team.share(stage, count, piece_of(p.part[0], count, team.threads), [&](int64_t panel) {
        int64_t column = 0;
        for (int64_t i = 0; i < p.parts; ++i) {
            const int64_t own = panels_of(p.part[i]);
            if (panel < own)
                return project_panel(p.part[i], panel, x, rows, p.bias ? p.bias + column : nullptr,
                                     accumulate, out + column, stride, totals);
            panel -= own;
            column += p.part[i].outputs;
        }
    });
}

}  // namespace lean
