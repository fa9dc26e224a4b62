// What the benchmarks share: medians of rounds, and a table that prints each figure beside its goal. A goal that is
// missed is marked in the table and makes the program exit 1; no test runs one, as timings belong to a quiet machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace sluice::bench {

constexpr int kRounds = 15;

// Keeps the compiler from leaving out work whose result nobody uses.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// The two clocks: time that passed, and time that this process computed. Work that waits for nothing is measured by the
// second, which other processes on the machine disturb less.
inline double wall_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The median time of each work in seconds. Rounds are interleaved, so that what disturbs the machine disturbs all of
// them alike; a first round warms up and does not count.
inline std::vector<double> medians_s(const std::vector<std::function<void()>>& works, int rounds = kRounds,
                                     double (*now_s)() = wall_s) {
  std::vector<std::vector<double>> times(works.size());
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < works.size(); ++i) {
      double start = now_s();
      works[i]();
      double took = now_s() - start;
      if (round > 0) times[i].push_back(took);
    }
  }
  std::vector<double> medians;
  for (auto& series : times) {
    std::nth_element(series.begin(), series.begin() + rounds / 2, series.end());
    medians.push_back(series[static_cast<size_t>(rounds) / 2]);
  }
  return medians;
}

inline double median_s(const std::function<void()>& work, int rounds = kRounds, double (*now_s)() = wall_s) {
  return medians_s({work}, rounds, now_s).front();
}

// The table: what | measured | goal.
class Report {
 public:
  void at_least(std::string what, double measured, double goal, std::string unit) {
    add(std::move(what), measured, "≥ " + figure(goal), measured >= goal, std::move(unit));
  }
  void at_most(std::string what, double measured, double goal, std::string unit) {
    add(std::move(what), measured, "≤ " + figure(goal), measured <= goal, std::move(unit));
  }
  // A figure without a goal.
  void note(std::string what, double measured, std::string unit) {
    add(std::move(what), measured, "", true, std::move(unit));
  }

  // Prints the table; the exit code of the program: 0, or 1 if a goal was missed.
  [[nodiscard]] int print() const {
    size_t width = 4;
    for (const Row& row : rows_) width = std::max(width, row.what.size());
    std::printf("%-*s | %16s | goal\n", static_cast<int>(width), "what", "measured");
    for (const Row& row : rows_) {
      std::printf("%-*s | %16s | %s\n", static_cast<int>(width), row.what.c_str(), row.measured.c_str(),
                  row.goal.c_str());
    }
    return missed_ ? 1 : 0;
  }

 private:
  struct Row {
    std::string what;
    std::string measured;
    std::string goal;
  };

  static std::string figure(double number) {
    char text[32];
    std::snprintf(text, sizeof text, number < 10 ? "%.2f" : "%.0f", number);
    return text;
  }

  void add(std::string what, double measured, std::string goal, bool met, std::string unit) {
    if (!goal.empty()) goal += " " + unit + (met ? "" : "  MISSED");
    missed_ = missed_ || !met;
    rows_.push_back({.what = std::move(what), .measured = figure(measured) + " " + unit, .goal = std::move(goal)});
  }

  std::vector<Row> rows_;
  bool missed_ = false;
};

}  // namespace sluice::bench
