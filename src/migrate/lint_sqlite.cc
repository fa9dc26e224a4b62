// Names are small: SQLite does not tell their case apart.
#include "migrate/lint_sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <ranges>

#include "base/ascii.h"

namespace sluice::migrate {
namespace {

std::string small(std::string text) {
  std::ranges::transform(text, text.begin(), to_lower);
  return text;
}

bool drops(int what) {
  const int all[] = {SQLITE_DROP_TABLE, SQLITE_DROP_VTABLE, SQLITE_DROP_VIEW, SQLITE_DROP_INDEX, SQLITE_DROP_TRIGGER};
  return std::ranges::find(all, what) != std::end(all);
}

// ---- word by word

using Words = std::vector<std::string>;

bool begins_with(const Words& words, std::initializer_list<std::string_view> first) {
  return words.size() >= first.size() && std::ranges::equal(std::views::take(words, first.size()), first);
}

bool mentions(const Words& words, std::initializer_list<std::string_view> phrase) {
  return !std::ranges::search(words, phrase).empty();
}

// What ALTER TABLE … RENAME TO calls a table from then on.
std::string newest_name(const Words& words) {
  auto name = parse_name(Engine::sqlite, words.back());
  return small(name ? name->back() : words.back());
}

std::vector<Broken> by_words(const Words& words) {
  AllBroken all;
  const bool drops_rows = begins_with(words, {"DELETE"}) || begins_with(words, {"REPLACE"}) ||
                          begins_with(words, {"INSERT", "OR", "REPLACE"}) ||
                          (begins_with(words, {"WITH"}) && mentions(words, {"DELETE", "FROM"}));
  if (drops_rows) {
    all.add("destroys", kRowsToContract);
  } else if (begins_with(words, {"DROP"})) {
    if (!begins_with(words, {"DROP", "INDEX"}) && !begins_with(words, {"DROP", "TRIGGER"})) {
      all.add("destroys", kToContract);
    }
  } else if (begins_with(words, {"UPDATE"})) {
    all.add("locks", kRowsLocked);
  } else if (begins_with(words, {"ALTER", "TABLE"})) {
    const size_t at = words.size() > 3 && words[3] == "." ? 5 : 3;
    const std::string verb = at < words.size() ? words[at] : "";
    if (verb == "RENAME") all.add("renames", kRename);
    if (verb == "DROP") all.add("destroys", kToContract);
    const bool filled = mentions(words, {"DEFAULT"}) || mentions(words, {"GENERATED"});
    if (verb == "ADD" && mentions(words, {"NOT", "NULL"}) && !filled) all.add("breaks", kNotNull);
  }
  return all.take();
}

bool is_syntax(std::string_view said) {
  return said.ends_with("syntax error") || said == "incomplete input" || said.starts_with("unrecognized token");
}

Broken unparsed_by_sqlite(std::string said, const std::string& text, int offset) {
  Broken broken{.rule = std::string(kUnparsed), .message = std::move(said)};
  const size_t end = offset < 0 ? text.size() : std::min(text.size(), static_cast<size_t>(offset));
  const std::string_view before = std::string_view(text).substr(0, end);
  broken.place.line += static_cast<uint32_t>(std::ranges::count(before, '\n'));
  broken.place.column = static_cast<uint32_t>(end - (before.rfind('\n') + 1) + 1);
  return broken;
}

}  // namespace

SqliteLint::SqliteLint() {
  if (sqlite3_open_v2(":memory:", &connection_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
    sqlite3_close(connection_);
    connection_ = nullptr;  // then words decide
  }
}

SqliteLint::~SqliteLint() { sqlite3_close(connection_); }

Result<void> SqliteLint::copy_schema(Database& database) {
  auto objects = database.query(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 8) "
      "<> '_sluice_' ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, rowid");
  if (!objects) return objects.error();
  // What a virtual table made by itself is refused as being there.
  for (const Row& object : *objects) sqlite3_exec(connection_, object[0]->c_str(), nullptr, nullptr, nullptr);
  return {};
}

int SqliteLint::note(void* self, int what, const char* name, const char* detail, const char*, const char* trigger) {
  auto text = [](const char* given) { return small(given == nullptr ? "" : given); };
  static_cast<SqliteLint*>(self)->acts_.push_back({what, text(name), text(detail), trigger != nullptr});
  return SQLITE_OK;
}

bool SqliteLint::is_there(const std::string& table) {
  return sqlite3_table_column_metadata(connection_, nullptr, table.c_str(), nullptr, nullptr, nullptr, nullptr, nullptr,
                                       nullptr) == SQLITE_OK;
}

// What ALTER TABLE adds is the last column.
bool SqliteLint::requires_newest_column(const std::string& table) {
  const std::string sql = "SELECT \"notnull\" = 1 AND dflt_value IS NULL AND hidden = 0 FROM pragma_table_xinfo(" +
                          quoted_text(table) + ") ORDER BY cid DESC LIMIT 1";
  bool required = false;
  sqlite3_exec(
      connection_, sql.c_str(),
      [](void* into, int, char** row, char**) {
        *static_cast<bool*>(into) = row[0] != nullptr && std::string_view(row[0]) == "1";
        return 0;
      },
      &required, nullptr);
  return required;
}

std::vector<Broken> SqliteLint::look(const Statement& statement) {
  if (connection_ == nullptr) return by_words(statement.tokens);
  acts_.clear();
  sqlite3_set_authorizer(connection_, note, this);
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(connection_, statement.text.c_str(), -1, &prepared, nullptr);
  const std::string said = code == SQLITE_OK ? "" : sqlite3_errmsg(connection_);
  const int offset = sqlite3_error_offset(connection_);
  sqlite3_set_authorizer(connection_, nullptr, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(prepared, sqlite3_finalize);
  if (is_syntax(said)) return {unparsed_by_sqlite(said, statement.text, offset)};
  const bool drops_nothing = begins_with(statement.tokens, {"DROP"}) && std::ranges::none_of(acts_, drops, &Act::what);
  if (code != SQLITE_OK || drops_nothing) return by_words(statement.tokens);
  for (const Act& each : acts_) {
    const bool makes = each.what == SQLITE_CREATE_TABLE || each.what == SQLITE_CREATE_VTABLE;
    if (makes && !is_there(each.name)) own_.insert(each.name);
  }
  if (is_one_of(statement.tokens.front(), {"CREATE", "ALTER", "DROP"})) sqlite3_step(prepared);
  return judge(statement);
}

std::vector<Broken> SqliteLint::judge(const Statement& statement) {
  AllBroken all;
  auto is_others = [&](const std::string& table) { return !table.starts_with("sqlite_") && !own_.contains(table); };
  auto calls = [&](std::string_view function) {
    return std::ranges::any_of(
        acts_, [&](const Act& each) { return each.what == SQLITE_FUNCTION && each.detail == function; });
  };
  const bool replaces =
      begins_with(statement.tokens, {"REPLACE"}) || begins_with(statement.tokens, {"INSERT", "OR", "REPLACE"});
  const bool inserts = std::ranges::any_of(acts_, [](const Act& each) { return each.what == SQLITE_INSERT; });
  for (const Act& each : acts_) {
    switch (each.what) {
      case SQLITE_DROP_TABLE:
      case SQLITE_DROP_VTABLE:
      case SQLITE_DROP_VIEW:
        if (is_others(each.name)) all.add("destroys", kToContract);
        break;
      case SQLITE_DELETE:
        if (is_others(each.name)) all.add("destroys", kRowsToContract);
        break;
      case SQLITE_INSERT:
        if (replaces && !each.by_trigger && is_others(each.name)) all.add("destroys", kRowsToContract);
        break;
      case SQLITE_UPDATE:  // an upsert changes the rows that it meets
        if ((!inserts || each.by_trigger) && is_others(each.name)) all.add("locks", kRowsLocked);
        break;
      case SQLITE_ALTER_TABLE:  // whose name is that of the file
        if (!is_others(each.detail)) {
          if (calls("sqlite_rename_table")) own_.insert(newest_name(statement.tokens));
        } else if (calls("sqlite_drop_column")) {
          all.add("destroys", kToContract);
        } else if (calls("sqlite_rename_column") || calls("sqlite_rename_table")) {
          all.add("renames", kRename);
        } else if (requires_newest_column(each.detail)) {
          all.add("breaks", kNotNull);
        }
        break;
      default:
        break;
    }
  }
  return all.take();
}

}  // namespace sluice::migrate
