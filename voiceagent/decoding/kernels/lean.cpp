// A Llama-family decoder over packed weights: one forward pass is one call and one parallel region.
#include <memory>
#include <vector>
#include "attention.h"
#include "linear.h"
#include "pack.h"

using namespace lean;

namespace {

constexpr int64_t kStages = 10;   // of a layer
constexpr int64_t kBlock = 128;   // rows that pass through the layers together; more are cut

// Layouts below are mirrored by ctypes structures in native.py.
struct Layer {
    Projection qkv, out, gate_up, down;
    const float *attention_norm, *feed_forward_norm, *query_norm, *key_norm;  // the last two or null
};

struct Model {
    int64_t layers, hidden, heads, kv_heads, head_size, feed_forward, vocabulary;
    float epsilon, unused;
    const float* frequencies;  // (head_size / 2,)
    const float* norm;
    const Layer* layer;
    Matrix embedding;
    Projection head;
};

// Where a row stands: its cache (layers, kv_heads, capacity, head_size) and its position there.
struct Place {
    uint16_t *keys, *values;
    int64_t capacity, position;
};

struct Buffers {
    std::vector<float> floats;
    std::vector<int8_t> codes;
    std::vector<int16_t> wide;
    std::vector<float> scale, weighted;
    std::vector<int32_t> pairs;

    Rows rows(int64_t columns) {
        const size_t all = kBlock * columns;
        if (floats.size() < all) {
            floats.resize(all), codes.resize(all), wide.resize(all);
            scale.resize(all / kGroup), weighted.resize(all / kGroup), pairs.resize(2 * all / kGroup);
        }
        return {columns, floats.data(), codes.data(), wide.data(), scale.data(), weighted.data(), pairs.data()};
    }
};

}  // namespace

struct LeanScratch {
    Buffers normed, mixed, gated;
    std::vector<float> hidden, qkv, gate_up, angles, totals, scores;
    std::vector<Stage> stages;
};

namespace {

// The rows of one block on their way through the model.
struct Pass {
    const Model& m;
    LeanScratch& s;
    const Place* places;
    int64_t rows;
    int64_t reach;  // padded longest row of scores
    Rows normed, mixed, gated;

    int64_t query() const { return m.heads * m.head_size; }
    int64_t kv() const { return m.kv_heads * m.head_size; }
    float* hidden(int64_t r) const { return s.hidden.data() + r * m.hidden; }
    float* totals(const Team& t) const { return s.totals.data() + t.thread * kBlock * kPanel; }

    void normalise_rows(const float* weight, int64_t first, Stage& stage, const Team& team) {
        team.share(stage, rows - first, 1, [&](int64_t r) {
            normalise(hidden(first + r), weight, m.epsilon, m.hidden, normed.row(r));
            quantize_row(normed, r);
        });
    }

    // Norms of query and key where the model has them, rotation, and the new rows of the cache.
    void place_row(const Layer& layer, int64_t index, int64_t r) {
        const int64_t size = m.head_size, stride = query() + 2 * kv();
        float* joint = s.qkv.data() + r * stride;
        const float *cosine = s.angles.data() + r * size, *sine = cosine + size / 2;
        for (int64_t h = 0; h < m.heads + m.kv_heads; ++h) {
            const float* weight = h < m.heads ? layer.query_norm : layer.key_norm;
            if (weight) normalise(joint + h * size, weight, m.epsilon, size, joint + h * size);
            rotate(joint + h * size, cosine, sine, size);
        }
        const Place& place = places[r];
        for (int64_t h = 0; h < m.kv_heads; ++h) {
            const int64_t at = ((index * m.kv_heads + h) * place.capacity + place.position) * size;
            for (int64_t i = 0; i < size; i += 8) {
                store_half(place.keys + at + i, load(joint + query() + h * size + i));
                store_half(place.values + at + i, load(joint + query() + kv() + h * size + i));
            }
        }
    }

    void attend_head(int64_t index, int64_t task, const Team& team) {
        const int64_t r = task / m.kv_heads, h = task % m.kv_heads, shared = m.heads / m.kv_heads;
        const Place& place = places[r];
        const int64_t at = (index * m.kv_heads + h) * place.capacity * m.head_size;
        const int64_t first = h * shared * m.head_size;
        attend(s.qkv.data() + r * (query() + 2 * kv()) + first, place.keys + at, place.values + at,
               place.position + 1, shared, m.head_size, 1.0f / std::sqrt(static_cast<float>(m.head_size)),
               s.scores.data() + team.thread * shared * reach, reach, mixed.row(r) + first);
    }

    // silu(gate) * up for one group of columns of one row, rounded at once.
    void gate_group(int64_t r, int64_t g) {
        const float* gate = s.gate_up.data() + r * 2 * m.feed_forward + g * kGroup;
        for (int64_t i = 0; i < kGroup; i += 8) {
            const vec x = load(gate + i);
            const vec silu = div(x, add(all(1), exp(sub(all(0), x))));
            store(gated.row(r) + g * kGroup + i, mul(silu, load(gate + m.feed_forward + i)));
        }
        quantize_group(gated, r, g);
    }

    void layer(int64_t index, const Team& team) {
        const Layer& l = m.layer[index];
        Stage* stage = s.stages.data() + 1 + kStages * index;
        const int64_t groups = m.feed_forward / kGroup;
        normalise_rows(l.attention_norm, 0, stage[0], team);
        project(l.qkv, normed, rows, false, s.qkv.data(), query() + 2 * kv(), team, stage[1], totals(team));
        team.share(stage[2], rows, 1, [&](int64_t r) { place_row(l, index, r); });
        team.share(stage[3], rows * m.kv_heads, 1, [&](int64_t task) { attend_head(index, task, team); });
        team.share(stage[4], rows, 1, [&](int64_t r) { quantize_row(mixed, r); });
        project(l.out, mixed, rows, true, hidden(0), m.hidden, team, stage[5], totals(team));
        normalise_rows(l.feed_forward_norm, 0, stage[6], team);
        project(l.gate_up, normed, rows, false, s.gate_up.data(), 2 * m.feed_forward, team, stage[7], totals(team));
        team.share(stage[8], rows * groups, 16, [&](int64_t i) { gate_group(i / groups, i % groups); });
        project(l.down, gated, rows, true, hidden(0), m.hidden, team, stage[9], totals(team));
    }

    void run(const int64_t* tokens, int64_t scored_from, float* logits, float* hidden_out, const Team& team) {
        Stage* last = s.stages.data() + 1 + kStages * m.layers;
        team.share(s.stages[0], rows, 1, [&](int64_t r) { begin_row(tokens[r], r); });
        for (int64_t index = 0; index < m.layers; ++index) layer(index, team);
        team.share(last[0], rows, 1, [&](int64_t r) {
            std::memcpy(hidden_out + r * m.hidden, hidden(r), m.hidden * sizeof(float));
        });
        if (scored_from >= rows) return;
        normalise_rows(m.norm, scored_from, last[1], team);
        project(m.head, normed, rows - scored_from, false, logits, m.vocabulary, team, last[2], totals(team));
    }

    void begin_row(int64_t token, int64_t r);
};

// The values of one output of a matrix: one row of the matrix that was packed.
void unpack_row(const Matrix& m, int64_t output, float* values) {
    const uint8_t* panel = m.panels + output / kPanel * m.bytes;
    const int64_t lane = output % kPanel;
    if (is_float(m.type)) {
        for (int64_t k = 0; k < m.columns; ++k) {
            if (m.type == F32) std::memcpy(values + k, panel + (k * kPanel + lane) * 4, 4);
            else values[k] = half_to_float(read_half(panel + (k * kPanel + lane) * 2));
        }
        return;
    }
    const Traits t = traits_of(m.type);
    for (int64_t b = 0; b < m.columns / t.block; ++b)
        unpack_block(m.type, panel + b * t.bytes(), static_cast<int>(lane), values + b * t.block);
}

void Pass::begin_row(int64_t token, int64_t r) {
    unpack_row(m.embedding, token, hidden(r));
    const int64_t half = m.head_size / 2;
    float* angles = s.angles.data() + r * m.head_size;
    for (int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(places[r].position) * m.frequencies[i];
        angles[i] = static_cast<float>(std::cos(angle));
        angles[half + i] = static_cast<float>(std::sin(angle));
    }
}

void prepare(LeanScratch& s, const Model& m, int threads, int64_t reach) {
    const int64_t qkv = (m.heads + 2 * m.kv_heads) * m.head_size, shared = m.heads / m.kv_heads;
    s.hidden.resize(kBlock * m.hidden);
    s.qkv.resize(kBlock * qkv);
    s.gate_up.resize(kBlock * 2 * m.feed_forward);
    s.angles.resize(kBlock * m.head_size);
    s.totals.resize(threads * kBlock * kPanel);
    if (s.scores.size() < static_cast<size_t>(threads * shared * reach)) s.scores.resize(threads * shared * reach);
    if (s.stages.empty()) s.stages = std::vector<Stage>(kStages * m.layers + 4);
    for (Stage& stage : s.stages) stage.next = 0, stage.done = 0;
}

}  // namespace

extern "C" {

// The sizes of what crosses the border, to be compared with the ctypes structures.
int64_t lean_size_of_model() { return sizeof(Model); }
int64_t lean_size_of_layer() { return sizeof(Layer); }

// Which path was compiled: 0 plain, 1 AVX2, 2 VNNI, 3 VNNI emulated, 4 VNNI in 512 bits.
int32_t lean_path() {
#if LEAN_WIDE
    return 4;
#elif LEAN_VNNI && defined(LEAN_EMULATE_VNNI)
    return 3;
#else
    return LEAN_VNNI ? 2 : LEAN_AVX2 ? 1 : 0;
#endif
}

int64_t lean_panel_bytes(int32_t type, int64_t columns) { return panel_bytes(type, columns); }

// Reads `size` bytes once, as the kernels read weights; the sum keeps the compiler honest.
int64_t lean_read(const uint8_t* data, int64_t size, int32_t threads) {
    constexpr int64_t kPiece = 1 << 16;
    Stage stage;
    std::atomic<int64_t> sum{0};
    run_team(threads, [&](const Team& team) {
        int64_t own = 0;
        team.share(stage, size / kPiece, 1, [&](int64_t piece) {
            const int64_t* words = reinterpret_cast<const int64_t*>(data + piece * kPiece);
            int64_t lanes[16] = {};
            for (int64_t i = 0; i < kPiece / 8; i += 16)
                for (int64_t lane = 0; lane < 16; ++lane) lanes[lane] ^= words[i + lane];
            for (const int64_t lane : lanes) own ^= lane;
        });
        sum ^= own;
    });
    return sum;
}

LeanScratch* lean_new_scratch() { return new LeanScratch; }
void lean_delete_scratch(LeanScratch* scratch) { delete scratch; }

// Packs rows source + order[i] * row_bytes (order null: i) into panels.
void lean_pack(
    int32_t type, int64_t outputs, int64_t columns, const uint8_t* source, int64_t row_bytes,
    const int64_t* order, uint8_t* panels, int32_t threads
) {
    Stage stage;
    const int64_t bytes = panel_bytes(type, columns);
    run_team(threads, [&](const Team& team) {
        team.share(stage, (outputs + kPanel - 1) / kPanel, 1, [&](int64_t panel) {
            const uint8_t* rows[kPanel];
            int lanes = 0;
            for (int64_t o = panel * kPanel; o < outputs && lanes < kPanel; ++o, ++lanes)
                rows[lanes] = source + (order ? order[o] : o) * row_bytes;
            pack_panel(type, columns, rows, lanes, panels + panel * bytes);
        });
    });
}

void lean_unpack_row(const Matrix* matrix, int64_t output, float* values) { unpack_row(*matrix, output, values); }

// out (rows, outputs) = projection of in (rows, columns); at most 128 rows.
void lean_project(const Projection* projection, const float* in, int64_t rows, float* out, int32_t threads) {
    Buffers buffers;
    Rows x = buffers.rows(projection->part[0].columns);
    std::memcpy(x.floats, in, rows * x.columns * sizeof(float));
    Stage rounding, stage;
    run_team(threads, [&](const Team& team) {
        std::vector<float> totals(kBlock * kPanel);
        team.share(rounding, rows, 1, [&](int64_t r) { quantize_row(x, r); });
        project(*projection, x, rows, false, out, projection->outputs(), team, stage, totals.data());
    });
}

// Appends rows to their caches. logits: (rows - scored_from, vocabulary); hidden: (rows, hidden size).
void lean_forward(
    const Model* model, LeanScratch* scratch, const int64_t* tokens, const Place* places, int64_t rows,
    int64_t scored_from, float* logits, float* hidden, int32_t threads
) {
    for (int64_t first = 0; first < rows; first += kBlock) {
        const int64_t count = rows - first < kBlock ? rows - first : kBlock;
        int64_t reach = 0;
        for (int64_t r = first; r < first + count; ++r)
            if (places[r].position + 1 > reach) reach = places[r].position + 1;
        reach = (reach + 7) / 8 * 8;
        prepare(*scratch, *model, threads, reach);
        Pass pass{*model, *scratch, places + first, count, reach,
                  scratch->normed.rows(model->hidden), scratch->mixed.rows(model->heads * model->head_size),
                  scratch->gated.rows(model->feed_forward)};
        const int64_t skipped = scored_from > first ? scored_from - first : 0;
        float* out = logits + (first > scored_from ? first - scored_from : 0) * model->vocabulary;
        run_team(threads, [&](const Team& team) {
            pass.run(tokens + first, skipped, out, hidden + first * model->hidden, team);
        });
    }
}

}  // extern "C"
