// Tables for people: columns side by side, two blanks apart, no rules, no trailing blanks.
//
//   Table table{.columns = {{"NAME"}, {"REPLICAS", Align::right}}, .empty = "No environments yet."};
//   table.rows.push_back({{"prod-eu"}, {"3"}});
//   out << render(table, terminal);
//
// On a terminal that is too narrow, the widest columns are cut with …; anywhere else nothing is ever cut. Cells hold
// plain text: what could disturb the screen is shown escaped, and styles are named, never written into the text.
#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"

namespace sluice {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool whole = false;  // never cut: an id or a digest that people copy
};

struct Cell {
  std::string text;
  Style style = Style::plain;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // a row may be shorter than the columns
  std::string empty;                    // the sentence that stands for a table without rows
};

// The table's lines, each ended by a line break.
std::string render(const Table& table, const Terminal& terminal);

}  // namespace sluice
