// Looking a rule up in the database: its table, its columns and their defaults, its key.
#include <re2/re2.h>

#include <algorithm>

#include "base/ascii.h"
#include "migrate/copying.h"

namespace sluice::migrate {
namespace {

Error bad(std::string message, std::string next) {
  return {.code = Code::invalid, .message = std::move(message), .next = std::move(next)};
}

// A literal, perhaps with a cast.
bool is_constant(const std::string& expression) {
  static const re2::RE2 pattern(
      R"re((?i)\(?\s*('([^']|'')*'|[+-]?[0-9][0-9.eE+-]*|true|false|null|x'[0-9a-f]*')\s*\)?(::[a-z_ "\[\]().,0-9]+)*)re");
  return re2::RE2::FullMatch(expression, pattern);
}

// "a", "b" with something between them.
std::string list_of(const std::vector<std::string>& names, std::string (*make)(const std::string&)) {
  std::string out;
  for (const std::string& each : names) out.append(out.empty() ? "" : ", ").append(make(each));
  return out;
}

// ---- What the database knows of the table

struct Known {
  std::vector<std::string> columns;             // in quotes
  std::map<std::string, std::string> defaults;  // by name in quotes
};

Result<Known> columns_of(Database& database, const Copy& copy, const std::vector<std::string>& name) {
  Result<Rows> rows =
      copy.engine == Engine::postgres
          ? database.query(
                "SELECT a.attname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a "
                "LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum "
                "WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
                {copy.table})
          : database.query("SELECT name, dflt_value FROM pragma_table_xinfo($1) ORDER BY cid", {name.back()});
  if (!rows) return rows.error();
  if (rows->empty()) {
    return bad("there is no table " + copy.table, "the copy in migration.yaml must name a table that is there");
  }
  Known known;
  for (const Row& row : *rows) {
    std::string column = quoted_name(*row[0]);
    known.columns.push_back(column);
    if (row[1]) known.defaults[column] = *row[1];
  }
  return known;
}

// A unique key none of whose columns may be NULL.
Result<bool> is_key(Database& database, const Copy& copy, const std::vector<std::string>& name) {
  if (copy.engine == Engine::postgres) {
    auto found = database.value(
        "SELECT 1 FROM pg_index i WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indisvalid AND i.indpred "
        "IS NULL "
        "AND i.indexprs IS NULL AND i.indnkeyatts = $2::int AND NOT EXISTS (SELECT 1 FROM "
        "unnest(i.indkey[0:i.indnkeyatts - 1]) k "
        "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k WHERE NOT a.attnotnull OR "
        "NOT format('\"%s\"', replace(a.attname, '\"', '\"\"')) = ANY ($3::text[])) LIMIT 1",
        {copy.table, std::to_string(copy.key.size()), "{" + list_of(copy.key, [](const std::string& each) {
                                                        std::string out = "\"";
                                                        for (char c : each)
                                                          out.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
                                                        return out + "\"";
                                                      }) + "}"});
    if (!found) return found.error();
    return found->has_value();
  }
  // The columns of the primary key, unless it may be NULL, as SQLite lets it; else of a unique index.
  auto rows = database.query(
      "SELECT 'primary', name FROM pragma_table_xinfo($1) t WHERE pk > 0 AND (\"notnull\" OR "
      "(upper(type) = 'INTEGER' AND (SELECT count(*) FROM pragma_table_xinfo($1) WHERE pk > 0) = 1) OR "
      "(SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = $1)) UNION ALL "
      "SELECT i.name, c.name FROM pragma_index_list($1) i JOIN pragma_index_info(i.name) c "
      "JOIN pragma_table_xinfo($1) t ON t.name = c.name WHERE i.\"unique\" AND NOT i.partial AND t.\"notnull\"",
      {name.back()});
  if (!rows) return rows.error();
  std::map<std::string, std::vector<std::string>> keys;
  for (const Row& row : *rows) keys[*row[0]].push_back(quoted_name(*row[1]));
  auto sizes = database.query(
      "SELECT 'primary', count(*) FROM pragma_table_xinfo($1) WHERE pk > 0 UNION ALL "
      "SELECT i.name, (SELECT count(*) FROM pragma_index_info(i.name)) FROM pragma_index_list($1) i",
      {name.back()});
  if (!sizes) return sizes.error();
  std::vector<std::string> wanted = copy.key;
  std::ranges::sort(wanted);
  for (auto& [index, columns] : keys) {
    std::ranges::sort(columns);
    bool whole = std::ranges::any_of(
        *sizes, [&](const Row& row) { return *row[0] == index && *row[1] == std::to_string(columns.size()); });
    if (whole && columns == wanted) return true;
  }
  return false;
}

// The name as the table has it: SQLite's names are the same in capitals.
Result<std::string> own_column(const Copy& copy, const Known& known, const std::string& text) {
  auto parsed = parse_name(copy.engine, text);
  if (!parsed) return parsed.error();
  const std::string wanted = quoted_name(parsed->back());
  auto found = std::ranges::find_if(known.columns, [&](const std::string& each) {
    return copy.engine == Engine::postgres ? each == wanted : std::ranges::equal(each, wanted, {}, to_lower, to_lower);
  });
  if (found != known.columns.end()) return *found;
  return bad(copy.table + " has no column " + wanted, "expand.sql adds the columns of the new side");
}

Result<std::vector<Column>> side_of(const Copy& copy, const Known& known,
                                    const std::map<std::string, std::string>& side) {
  std::vector<Column> columns;
  for (const auto& [text, expression] : side) {
    auto name = own_column(copy, known, text);
    if (!name) return name.error();
    auto fallback = known.defaults.find(*name);
    if (fallback != known.defaults.end() && !is_constant(fallback->second)) {
      return bad("the default of " + *name + " of " + copy.table + " is computed (" + fallback->second +
                     "), so nobody could tell a row that was written from one that was not",
                 "give the column no default, or a constant");
    }
    columns.push_back({.name = *name,
                       .expression = expression,
                       .fallback = fallback == known.defaults.end() ? std::string() : fallback->second});
  }
  return columns;
}

}  // namespace

Result<Copy> look_up(Database& database, const CopyRule& rule, int64_t number, size_t place) {
  auto name = parse_name(database.engine(), rule.table);
  if (!name) return name.error();
  Copy copy{.engine = database.engine(),
            .name = trigger_name(number, place),
            .table = quoted_name(*name),
            .alias = quoted_name(name->back())};
  auto known = columns_of(database, copy, *name);
  if (!known) return known.error();
  copy.columns = known->columns;
  for (const std::string& text : rule.key) {
    auto column = own_column(copy, *known, text);
    if (!column) return column.error();
    copy.key.push_back(*column);
  }
  auto forward = side_of(copy, *known, rule.forward);
  if (!forward) return forward.error();
  copy.forward = *std::move(forward);
  auto back = side_of(copy, *known, rule.back);
  if (!back) return back.error();
  copy.back = *std::move(back);
  auto key = is_key(database, copy, *name);
  if (!key) return key.error();
  if (!*key) {
    return bad("(" + list_of(copy.key, [](const std::string& each) { return each; }) + ")" + " is no unique key of " +
                   copy.table + " that is never NULL",
               "name the columns of the primary key, or of a unique index over columns that are NOT NULL");
  }
  return copy;
}

}  // namespace sluice::migrate
