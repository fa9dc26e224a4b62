// Column widths first, then cuts until the line fits, then lines.
#include "base/table.h"

#include <algorithm>
#include <cassert>

namespace sluice {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastWidth = 6;  // a column cut below this tells nothing

// Takes cells from the widest columns that may be cut until all fit, or until cutting would not help a reader.
void fit(std::vector<size_t>& widths, const std::vector<Column>& columns, size_t width) {
  size_t total = kGap * (widths.size() - 1);
  for (size_t wide : widths) total += wide;
  while (total > width) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      size_t least = std::max(kLeastWidth, display_width(columns[i].title));
      if (columns[i].whole || widths[i] <= least) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
    --total;
  }
}

std::string line(const std::vector<Cell>& cells, const std::vector<Column>& columns, const std::vector<size_t>& widths,
                 const Terminal& terminal) {
  std::string text;
  size_t owed = 0;  // blanks that the next cell with text must put first, so that none trail
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string shown = i < cells.size() ? truncate_to_width(cells[i].text, widths[i]) : "";
    size_t pad = widths[i] - std::min(widths[i], display_width(shown));
    if (columns[i].align == Align::right) owed += pad;
    if (!shown.empty()) {
      text.append(owed, ' ');
      text += terminal.paint(cells[i].style, shown);
      owed = 0;
    }
    if (columns[i].align == Align::left) owed += shown.empty() ? widths[i] : pad;
    owed += kGap;
  }
  return text + '\n';
}

}  // namespace

std::string render(const Table& table, const Terminal& terminal) {
  if (table.rows.empty()) return table.empty.empty() ? "" : table.empty + '\n';
  std::vector<std::vector<Cell>> lines;
  lines.emplace_back();
  for (const Column& column : table.columns) lines[0].push_back({column.title, Style::strong});
  for (const auto& row : table.rows) {
    assert(row.size() <= table.columns.size());
    lines.emplace_back();
    for (const Cell& cell : row) lines.back().push_back({printable(cell.text), cell.style});
  }
  std::vector<size_t> widths(table.columns.size());
  for (const auto& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], display_width(cells[i].text));
  }
  if (terminal.tty) fit(widths, table.columns, terminal.width);
  std::string text;
  bool titled =
      std::any_of(table.columns.begin(), table.columns.end(), [](const Column& c) { return !c.title.empty(); });
  for (size_t i = titled ? 0 : 1; i < lines.size(); ++i) text += line(lines[i], table.columns, widths, terminal);
  return text;
}

}  // namespace sluice
