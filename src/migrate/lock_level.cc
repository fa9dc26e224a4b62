// One function a family of statements. tests/migrate/test_lint.py compares them with pg_locks of a real server.
#include "migrate/lock_level.h"

#include <algorithm>
#include <array>
#include <vector>

namespace sluice::migrate {
namespace {

using enum LockLevel;

// The lock on a table of this name; none if nobody has it yet.
LockLevel on(const std::string& table, const TableNames& own, LockLevel level) {
  return own.contains(table) ? none : level;
}

// What is read beside: FROM, or the tables that foreign keys lead to.
LockLevel of_reading(Tokens tokens, const TableNames& own) {
  if (has(tokens, {"FOR", "UPDATE"}) || has(tokens, {"FOR", "SHARE"}) || has(tokens, {"FOR", "NO", "KEY"}) ||
      has(tokens, {"FOR", "KEY"})) {
    return row_share;
  }
  for (Tokens left = after(tokens, "FROM"); !left.empty(); left = after(left, "FROM")) {
    if (left.front() == "(" || !own.contains(name_at(left))) return access_share;
  }
  return none;
}

LockLevel of_references(Tokens tokens, const TableNames& own) {
  for (Tokens left = after(tokens, "REFERENCES"); !left.empty(); left = after(left, "REFERENCES")) {
    if (!own.contains(name_at(left))) return share_row_exclusive;
  }
  return none;
}

// ---- CREATE

LockLevel of_create_table(Tokens tokens, const TableNames& own) {
  const Tokens rest = after_name(tokens);
  if (begins(rest, {"PARTITION", "OF"})) return on(name_at(rest.subspan(2)), own, access_exclusive);
  TableNames with_itself = own;
  with_itself.insert(name_at(tokens));
  LockLevel level = std::max(of_reading(rest, own), of_references(rest, with_itself));
  if (const Tokens like = after(rest, "LIKE"); !like.empty() && has(rest, {"(", "LIKE"})) {
    level = std::max(level, on(name_at(like), own, access_share));
  }
  const Tokens parents = after(rest, "INHERITS");
  if (parents.size() > 1) level = std::max(level, on(name_at(parents.subspan(1)), own, share_update_exclusive));
  return level;
}

LockLevel of_create(Tokens tokens, const TableNames& own) {
  const bool replaces = begins(tokens, {"OR", "REPLACE"});
  while (!tokens.empty() && is_one_of(tokens.front(), {"OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "UNIQUE",
                                                       "MATERIALIZED", "RECURSIVE", "CONSTRAINT"})) {
    tokens = tokens.subspan(1);
  }
  if (tokens.empty()) return none;
  const std::string& kind = tokens.front();
  tokens = tokens.subspan(1);
  if (kind == "TABLE") return of_create_table(after_conditions(tokens), own);
  if (kind == "INDEX") {
    return on(name_at(after(tokens, "ON")), own, has(tokens, {"CONCURRENTLY"}) ? share_update_exclusive : share);
  }
  if (kind == "TRIGGER") return on(name_at(after(tokens, "ON")), own, share_row_exclusive);
  if (kind == "POLICY") return on(name_at(after(tokens, "ON")), own, access_exclusive);
  if (kind == "RULE") return on(name_at(after(tokens, "TO")), own, access_exclusive);
  if (kind == "VIEW") return replaces ? access_exclusive : of_reading(tokens, own);
  if (kind == "STATISTICS") return on(name_at(after(tokens, "FROM")), own, share_update_exclusive);
  return none;
}

// ---- DROP

LockLevel of_drop(Tokens tokens, const TableNames& own) {
  if (tokens.empty()) return none;
  const std::string& kind = tokens.front();
  if (kind == "INDEX") return has(tokens, {"CONCURRENTLY"}) ? share_update_exclusive : access_exclusive;
  if (kind == "STATISTICS") return share_update_exclusive;
  if (kind == "TABLE") {
    for (Tokens each : parts_of(tokens.subspan(1))) {
      if (!own.contains(name_at(each))) return access_exclusive;
    }
    return none;
  }
  if (is_one_of(kind, {"TRIGGER", "POLICY", "RULE"})) return on(name_at(after(tokens, "ON")), own, access_exclusive);
  if (is_one_of(kind, {"VIEW", "MATERIALIZED", "SEQUENCE", "FOREIGN", "OWNED"})) return access_exclusive;
  return has(tokens, {"CASCADE"}) ? access_exclusive : none;
}

// ---- ALTER

LockLevel of_altered_column(Tokens change) {
  const Tokens after_column = after_name(change.front() == "COLUMN" ? change.subspan(1) : change);
  const bool weak = begins(after_column, {"SET", "STATISTICS"}) || begins(after_column, {"SET", "("}) ||
                    begins(after_column, {"RESET", "("});
  return weak ? share_update_exclusive : access_exclusive;
}

LockLevel of_part(Tokens part) {
  if (part.front() == "ADD") {
    const Tokens added = after_conditions(part.subspan(1));
    return is_constraint(added) && has(added, {"FOREIGN", "KEY"}) ? share_row_exclusive : access_exclusive;
  }
  if (part.front() == "ALTER" && part.size() > 1) return of_altered_column(part.subspan(1));
  if (begins(part, {"VALIDATE"}) || begins(part, {"SET", "("}) || begins(part, {"RESET", "("}) ||
      begins(part, {"CLUSTER"}) || begins(part, {"SET", "WITHOUT", "CLUSTER"})) {
    return share_update_exclusive;
  }
  if (is_one_of(part.front(), {"ENABLE", "DISABLE"}) && has(part, {"TRIGGER"})) return share_row_exclusive;
  if (begins(part, {"DETACH"}) && (has(part, {"CONCURRENTLY"}) || has(part, {"FINALIZE"}))) {
    return share_update_exclusive;
  }
  return access_exclusive;
}

LockLevel of_alter_table(Tokens tokens, const TableNames& own) {
  tokens = after_conditions(tokens);
  const bool is_own = own.contains(name_at(tokens));
  Tokens rest = after_name(tokens);
  if (!rest.empty() && rest.front() == "*") rest = rest.subspan(1);
  LockLevel level = of_references(rest, own);
  for (Tokens part : parts_of(rest)) {
    if (part.empty()) continue;
    if (begins(part, {"ATTACH", "PARTITION"})) {
      level = std::max(level, on(name_at(part.subspan(2)), own, access_exclusive));
      if (!is_own) level = std::max(level, share_update_exclusive);
    } else if (!is_own) {
      level = std::max(level, of_part(part));
    }
  }
  return level;
}

LockLevel of_alter(Tokens tokens, const TableNames& own) {
  if (tokens.empty()) return none;
  const std::string& kind = tokens.front();
  if (kind == "TABLE") return of_alter_table(tokens.subspan(1), own);
  if (kind == "INDEX") {
    const bool weak = has(tokens, {"RENAME"}) || has(tokens, {"SET", "("}) || has(tokens, {"RESET", "("});
    return weak ? share_update_exclusive : access_exclusive;
  }
  if (is_one_of(kind, {"VIEW", "MATERIALIZED", "FOREIGN"})) return access_exclusive;
  if (is_one_of(kind, {"POLICY", "RULE", "TRIGGER"})) return on(name_at(after(tokens, "ON")), own, access_exclusive);
  if (kind == "SEQUENCE") {
    return has(tokens, {"RENAME"}) || has(tokens, {"SCHEMA"}) ? access_exclusive : share_row_exclusive;
  }
  if (kind == "STATISTICS") return has(tokens, {"SET", "STATISTICS"}) ? share_update_exclusive : none;
  if (kind == "DOMAIN") {
    const bool proves = has(tokens, {"SET", "NOT", "NULL"}) || has(tokens, {"VALIDATE"}) ||
                        (has(tokens, {"ADD"}) && !has(tokens, {"NOT", "VALID"}));
    return proves ? share : none;
  }
  return none;
}

// ---- what reads and writes rows

LockLevel of_writing(Tokens tokens, const TableNames& own) {
  size_t at = 1;
  while (at < tokens.size() && is_one_of(tokens[at], {"INTO", "FROM", "ONLY"})) ++at;
  const LockLevel written = on(name_at(tokens.subspan(at)), own, row_exclusive);
  return std::max(written, of_reading(tokens.subspan(at), own));
}

LockLevel of_with(Tokens tokens, const TableNames& own) {
  LockLevel level = of_reading(tokens, own);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Tokens here = tokens.subspan(i);
    const bool writes = begins(here, {"INSERT", "INTO"}) || begins(here, {"DELETE", "FROM"}) ||
                        (begins(here, {"UPDATE"}) && i > 0 && is_one_of(tokens[i - 1], {"(", ")"})) ||
                        begins(here, {"MERGE", "INTO"});
    if (writes) level = std::max(level, of_writing(here, own));
  }
  return level;
}

LockLevel of_comment(Tokens tokens, const TableNames& own) {
  if (tokens.size() < 3) return none;
  Tokens name = tokens.subspan(2);
  if (tokens[1] == "COLUMN") {  // users.name, or app.users.name
    if (name.size() > 3 && name[3] == ".") name = name.subspan(2);
    return on(name.front(), own, share_update_exclusive);
  }
  const bool of_table = is_one_of(tokens[1], {"TABLE", "VIEW", "MATERIALIZED", "INDEX", "SEQUENCE"});
  return of_table ? on(name_at(name), own, share_update_exclusive) : none;
}

}  // namespace

std::string_view lock_name(LockLevel level) {
  constexpr std::array<std::string_view, 10> kNames = {
      "",      "ACCESS SHARE",        "ROW SHARE", "ROW EXCLUSIVE",    "SHARE UPDATE EXCLUSIVE",
      "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE", "unknown"};
  return kNames[static_cast<size_t>(level)];
}

LockLevel lock_of(Tokens tokens, const TableNames& own) {
  if (tokens.empty()) return none;
  const std::string& verb = tokens.front();
  const Tokens rest = tokens.subspan(1);
  const bool concurrently = has(tokens, {"CONCURRENTLY"});
  if (verb == "CREATE") return of_create(rest, own);
  if (verb == "DROP") return of_drop(rest, own);
  if (verb == "ALTER") return of_alter(rest, own);
  if (is_one_of(verb, {"INSERT", "UPDATE", "DELETE", "MERGE"})) return of_writing(tokens, own);
  if (verb == "WITH") return of_with(tokens, own);
  if (is_one_of(verb, {"SELECT", "TABLE", "("})) return of_reading(tokens, own);
  if (verb == "TRUNCATE") return on(name_at(begins(rest, {"TABLE"}) ? rest.subspan(1) : rest), own, access_exclusive);
  if (verb == "CLUSTER") return access_exclusive;
  if (verb == "REINDEX") return concurrently ? share_update_exclusive : access_exclusive;
  if (verb == "ANALYZE") return share_update_exclusive;
  if (verb == "REFRESH") return concurrently ? exclusive : access_exclusive;
  if (verb == "COMMENT") return of_comment(rest, own);
  if (verb == "DO" || verb == "CALL") return unknown;
  return none;
}

// ---- tokens

bool begins(Tokens tokens, std::initializer_list<std::string_view> words) {
  if (tokens.size() < words.size()) return false;
  return std::ranges::equal(tokens.first(words.size()), words);
}

bool has(Tokens tokens, std::initializer_list<std::string_view> words) {
  for (size_t i = 0; i + words.size() <= tokens.size(); ++i) {
    if (begins(tokens.subspan(i), words)) return true;
  }
  return false;
}

bool is_one_of(const std::string& token, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, token) != words.end();
}

Tokens after(Tokens tokens, std::string_view word) {
  const auto at = static_cast<size_t>(std::ranges::find(tokens, word) - tokens.begin());
  return tokens.subspan(std::min(at + 1, tokens.size()));
}

Tokens after_conditions(Tokens tokens) {
  while (!tokens.empty() && is_one_of(tokens.front(), {"IF", "NOT", "EXISTS", "ONLY"})) tokens = tokens.subspan(1);
  return tokens;
}

Tokens after_name(Tokens tokens) {
  const size_t length = tokens.size() > 2 && tokens[1] == "." ? 3 : 1;
  return tokens.subspan(std::min(length, tokens.size()));
}

std::string name_at(Tokens tokens) {
  tokens = after_conditions(tokens);
  if (tokens.size() > 2 && tokens[1] == ".") tokens = tokens.subspan(2);
  return tokens.empty() ? std::string() : tokens.front();
}

std::vector<Tokens> parts_of(Tokens tokens) {
  std::vector<Tokens> parts;
  size_t from = 0;
  int depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == "(") ++depth;
    if (tokens[i] == ")") --depth;
    if (tokens[i] != "," || depth > 0) continue;
    parts.push_back(tokens.subspan(from, i - from));
    from = i + 1;
  }
  parts.push_back(tokens.subspan(from));
  return parts;
}

bool is_constraint(Tokens added) {
  return !added.empty() && is_one_of(added.front(), {"CONSTRAINT", "CHECK", "FOREIGN", "UNIQUE", "PRIMARY", "EXCLUDE"});
}

}  // namespace sluice::migrate
