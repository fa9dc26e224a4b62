// What is left of the table is rendered, which cuts the widest columns if it must.
#include "cli/fitting_table.h"

#include <algorithm>

#include "base/ascii.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kTime = "0000-00-00T00:00:00.000Z";
constexpr size_t kBetween = 2;

bool is_time(std::string_view text) {
  return text.size() == kTime.size() && std::ranges::equal(text, kTime, [](char c, char pattern) {
           return pattern == '0' ? is_digit(c) : c == pattern;
         });
}

const std::string& text_in(const std::vector<Cell>& row, size_t column) {
  static const std::string kNone;
  return column < row.size() ? row[column].text : kNone;
}

bool fits(const Table& table, const Terminal& terminal) {
  size_t total = kBetween * (table.columns.empty() ? 0 : table.columns.size() - 1);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    size_t widest = display_width(table.columns[i].title);
    for (const auto& row : table.rows) widest = std::max(widest, display_width(printable(text_in(row, i))));
    total += widest;
  }
  return total <= terminal.width;
}

// Of 2026-03-01T09:30:00.125Z: 03-01 09:30:00.
void shorten_times(Table& table) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    for (auto& row : table.rows) {
      if (!is_time(text_in(row, i))) continue;
      row[i].text = row[i].text.substr(5, 5) + " " + row[i].text.substr(11, 8);
      table.columns[i].whole = true;
    }
  }
}

void drop(Table& table, size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) {
    if (column < row.size()) row.erase(row.begin() + at);
  }
}

}  // namespace

std::string render_fitting(Table table, const Terminal& terminal, const std::vector<std::string_view>& dispensable) {
  if (!terminal.tty || table.rows.empty() || fits(table, terminal)) return render(table, terminal);
  shorten_times(table);
  for (size_t i = table.columns.size(); i-- > 0 && !fits(table, terminal);) {
    if (std::ranges::all_of(table.rows, [&](const auto& row) { return text_in(row, i).empty(); })) drop(table, i);
  }
  for (std::string_view title : dispensable) {
    if (fits(table, terminal)) break;
    auto found = std::ranges::find(table.columns, title, &Column::title);
    if (found != table.columns.end()) drop(table, static_cast<size_t>(found - table.columns.begin()));
  }
  return render(table, terminal);
}

}  // namespace sluice::cli
