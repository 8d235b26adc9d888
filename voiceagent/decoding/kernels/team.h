// A team of threads inside one forward pass, on the OpenMP runtime that torch itself uses: at most
// one pool spins.
//
// There are no barriers. A stage is a queue of pieces, and it is over when all pieces are done. So a
// thread whose core was taken away between two pieces holds up nobody: the others do its share, and
// when it is back it runs through the finished stages. (With barriers, one busy neighbour on two
// cores made a pass ten times slower.)
#pragma once
#include <atomic>
#include <cstdint>
#include <sched.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace lean {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

constexpr int kSpins = 2000;  // some 50 microseconds: longer than any piece but a long prompt's

struct alignas(64) Stage {
    std::atomic<int64_t> next{0}, done{0};
};

struct Team {
    int thread, threads;

    // Does pieces of work(0) ... work(count - 1) until none is left, then waits for the others'.
    template <class F> void share(Stage& stage, int64_t count, int64_t piece, F work) const {
        for (;;) {
            const int64_t begin = stage.next.fetch_add(piece, std::memory_order_relaxed);
            if (begin >= count) break;
            const int64_t end = begin + piece < count ? begin + piece : count;
            for (int64_t i = begin; i < end; ++i) work(i);
            stage.done.fetch_add(end - begin, std::memory_order_release);
        }
        for (int spins = 0; stage.done.load(std::memory_order_acquire) < count; ++spins) {
            if (spins < kSpins) relax();
            else sched_yield();  // the thread we wait for may need this very core
        }
    }
};

template <class F> void run_team(int threads, F work) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
    work(Team{omp_get_thread_num(), omp_get_num_threads()});
#else
    (void)threads;
    work(Team{0, 1});
#endif
}

}  // namespace lean
