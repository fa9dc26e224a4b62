// What the benchmarks share: medians of rounds, and a table that prints each figure beside its goal. A goal that is
// missed is printed as such and fails nothing: timings are for people to read, never for a test to assert.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
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

// The median time of each work in seconds. Rounds are interleaved, so that what disturbs the machine disturbs all of
// them alike; a first round warms up and does not count.
inline std::vector<double> medians_s(const std::vector<std::function<void()>>& works, int rounds = kRounds) {
  std::vector<std::vector<double>> times(works.size());
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < works.size(); ++i) {
      auto start = std::chrono::steady_clock::now();
      works[i]();
      std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (round > 0) times[i].push_back(took.count());
    }
  }
  std::vector<double> medians;
  for (auto& series : times) {
    std::nth_element(series.begin(), series.begin() + rounds / 2, series.end());
    medians.push_back(series[static_cast<size_t>(rounds) / 2]);
  }
  return medians;
}

inline double median_s(const std::function<void()>& work, int rounds = kRounds) {
  return medians_s({work}, rounds).front();
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

  void print() const {
    size_t width = 4;
    for (const Row& row : rows_) width = std::max(width, row.what.size());
    std::printf("%-*s | %16s | goal\n", static_cast<int>(width), "what", "measured");
    for (const Row& row : rows_) {
      std::printf("%-*s | %16s | %s\n", static_cast<int>(width), row.what.c_str(), row.measured.c_str(),
                  row.goal.c_str());
    }
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
    rows_.push_back({.what = std::move(what), .measured = figure(measured) + " " + unit, .goal = std::move(goal)});
  }

  std::vector<Row> rows_;
};

}  // namespace sluice::bench
