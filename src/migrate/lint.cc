// One function a kind of statement, each over its tokens.
#include "migrate/lint.h"

#include <algorithm>

#include "migrate/lock_level.h"

namespace sluice::migrate {
namespace {

struct Found {
  std::string_view rule;
  std::string_view message;
};
using AllFound = std::vector<Found>;

constexpr std::string_view kToContract = "what the version before still has belongs into contract.sql";
constexpr std::string_view kRename = "the version before knows the old name; add the new one beside it, and copy";

// ---- ALTER TABLE

// What gives all rows the same value, so that PostgreSQL keeps it once for all of them.
bool is_the_same_for_all(const std::string& function) {
  return is_one_of(function, {"NOW",
                              "CURRENT_TIMESTAMP",
                              "TRANSACTION_TIMESTAMP",
                              "STATEMENT_TIMESTAMP",
                              "LOCALTIME",
                              "LOCALTIMESTAMP",
                              "CURRENT_TIME",
                              "CURRENT_SETTING",
                              "CAST",
                              "VARCHAR",
                              "CHAR",
                              "CHARACTER",
                              "VARYING",
                              "NUMERIC",
                              "DECIMAL",
                              "BIT",
                              "TIMESTAMP",
                              "TIME",
                              "INTERVAL",
                              "LOWER",
                              "UPPER",
                              "MD5",
                              "COALESCE",
                              "ROW",
                              "CHECK",
                              "REFERENCES",
                              "KEY",
                              "DEFAULT"});
}

// Whether a default calls something that may give each row a value of its own.
bool calls_what_varies(Tokens column) {
  size_t at = 0;
  while (at < column.size() && column[at] != "DEFAULT") ++at;
  for (; at + 1 < column.size(); ++at) {
    if (is_one_of(column[at], {"CHECK", "REFERENCES", "CONSTRAINT"})) return false;
    const char c = column[at][0];
    const bool is_name = (c >= 'A' && c <= 'Z') || c == '_' || c == '"';
    if (is_name && column[at + 1] == "(" && !is_the_same_for_all(column[at])) return true;
  }
  return false;
}

void add_column(Engine engine, Tokens column, AllFound& all) {
  const bool filled = has(column, {"DEFAULT"}) || has(column, {"GENERATED"});
  if (has(column, {"NOT", "NULL"}) && !filled) {
    all.push_back({"breaks", "the version before writes rows without it; give it a DEFAULT, or let it be NULL"});
  }
  if (has(column, {"UNIQUE"}) || has(column, {"PRIMARY", "KEY"})) {
    all.push_back(
        {"locks", "its index is made while nobody writes; add the column, then CREATE UNIQUE INDEX CONCURRENTLY"});
  }
  if (engine == Engine::sqlite) return;  // it writes no row for a new column
  const Tokens name = after_conditions(column.subspan(!column.empty() && column.front() == "COLUMN" ? 1 : 0));
  const bool counts =
      name.size() > 1 && is_one_of(name[1], {"SERIAL", "SERIAL2", "SERIAL4", "SERIAL8", "BIGSERIAL", "SMALLSERIAL"});
  if (counts || calls_what_varies(column) || has(column, {"GENERATED"}))
    all.push_back({"rewrites", "each row gets a value of its own; add it without one, and fill it by copy:"});
  if (has(column, {"CHECK"}) || (has(column, {"REFERENCES"}) && has(column, {"DEFAULT"}))) {
    all.push_back(
        {"scans", "rows are proven while nobody reads or writes; add the column, then its constraint NOT VALID"});
  }
}

void add_constraint(Tokens constraint, AllFound& all) {
  if (has(constraint, {"USING", "INDEX"}) || has(constraint, {"NOT", "VALID"})) return;
  if (has(constraint, {"UNIQUE"}) || has(constraint, {"PRIMARY", "KEY"}) || has(constraint, {"EXCLUDE"})) {
    all.push_back(
        {"locks",
         "its index is made while nobody writes; CREATE UNIQUE INDEX CONCURRENTLY, then ADD CONSTRAINT … USING INDEX"});
  } else {
    all.push_back(
        {"scans", "rows are proven while nobody writes; add it NOT VALID, and Sluice validates it after the copy"});
  }
}

void alter_column(Tokens change, AllFound& all) {
  if (has(change, {"TYPE"})) {
    all.push_back({"rewrites",
                   "a type is changed with every row, and the version before expects the old one; add a column of the "
                   "new type, and copy"});
  } else if (has(change, {"SET", "NOT", "NULL"})) {
    all.push_back(
        {"scans", "rows are proven while nobody reads or writes; ADD CONSTRAINT … CHECK (… IS NOT NULL) NOT VALID"});
  }
}

void alter_table(Engine engine, Tokens tokens, AllFound& all) {
  tokens = after_name(after_conditions(tokens));
  if (!tokens.empty() && tokens.front() == "*") tokens = tokens.subspan(1);
  const bool postgres = engine == Engine::postgres;
  for (Tokens part : parts_of(tokens)) {
    if (part.empty()) continue;
    if (begins(part, {"DETACH", "PARTITION"})) {
      all.push_back({"destroys", kToContract});
    } else if (begins(part, {"ATTACH", "PARTITION"})) {
      all.push_back({"scans", "its rows are proven while nobody writes them, unless a valid CHECK says the same"});
    } else if (begins(part, {"DISABLE", "TRIGGER"}) || begins(part, {"DISABLE", "RULE"})) {
      all.push_back({"breaks", "what the version before writes has to go through its triggers"});
    } else if (begins(part, {"ENABLE", "ROW"}) || begins(part, {"FORCE", "ROW"})) {
      all.push_back({"breaks", "rows that no policy shows are gone for the version before"});
    } else if (part.front() == "RENAME" || begins(part, {"SET", "SCHEMA"})) {
      all.push_back({"renames", kRename});
    } else if (part.front() == "DROP") {
      if (!begins(part, {"DROP", "CONSTRAINT"})) all.push_back({"destroys", kToContract});
    } else if (part.front() == "ALTER") {
      alter_column(part.subspan(1), all);
    } else if (begins(part, {"SET", "TABLESPACE"}) || begins(part, {"SET", "ACCESS"}) ||
               begins(part, {"SET", "LOGGED"}) || begins(part, {"SET", "UNLOGGED"})) {
      all.push_back({"rewrites", "the whole table is written anew while nobody reads or writes"});
    } else if (part.front() == "ADD") {
      Tokens added = after_conditions(part.subspan(1));
      const bool constraint = is_constraint(added);
      if (!constraint) add_column(engine, added, all);
      if (constraint && postgres) add_constraint(added, all);
    }
  }
}

// ---- the others

void create_index(Engine engine, Tokens tokens, const TableNames& own, AllFound& all) {
  if (engine == Engine::sqlite || has(tokens, {"CONCURRENTLY"})) return;
  if (own.contains(name_at(after(tokens, "ON")))) return;
  all.push_back({"locks", "nobody writes while it is made; CREATE INDEX CONCURRENTLY"});
}

void revoke(Tokens tokens, const TableNames& own, AllFound& all) {
  Tokens of = after(tokens, "ON");
  if (!of.empty() && of.front() == "TABLE") of = of.subspan(1);
  if (own.contains(name_at(of))) return;
  all.push_back({"breaks", "the version before may need it; it belongs into contract.sql"});
}

AllFound look(Engine engine, Tokens tokens, const TableNames& own) {
  AllFound all;
  if (begins(tokens, {"DROP"})) {
    const bool harmless =
        tokens.size() > 1 && is_one_of(tokens[1], {"INDEX", "TRIGGER", "POLICY", "RULE", "STATISTICS"});
    if (!harmless) all.push_back({"destroys", kToContract});
    if (engine == Engine::postgres && begins(tokens, {"DROP", "INDEX"}) && !has(tokens, {"CONCURRENTLY"})) {
      all.push_back({"locks", "nobody reads or writes meanwhile; DROP INDEX CONCURRENTLY"});
    }
  } else if (begins(tokens, {"TRUNCATE"}) || begins(tokens, {"DELETE"}) || begins(tokens, {"REPLACE"}) ||
             begins(tokens, {"INSERT", "OR", "REPLACE"}) ||
             (begins(tokens, {"WITH"}) && has(tokens, {"DELETE", "FROM"})) ||
             (begins(tokens, {"MERGE"}) && has(tokens, {"DELETE"}))) {
    all.push_back({"destroys", "rows are gone for the version before, too; they belong into contract.sql"});
  } else if (begins(tokens, {"UPDATE"}) || begins(tokens, {"MERGE"}) ||
             (begins(tokens, {"WITH"}) && has(tokens, {"UPDATE"}) && !has(tokens, {"DO", "UPDATE"}))) {
    all.push_back(
        {"locks", "its rows stay locked until all are written; say in migration.yaml how columns are copied"});
  } else if (begins(tokens, {"ALTER", "TABLE"}) && !own.contains(name_at(tokens.subspan(2)))) {
    alter_table(engine, tokens.subspan(2), all);
  } else if (begins(tokens, {"ALTER"}) && has(tokens, {"RENAME"})) {
    all.push_back({"renames", kRename});
  } else if (begins(tokens, {"ALTER", "DOMAIN"}) &&
             (has(tokens, {"SET", "NOT", "NULL"}) || (has(tokens, {"ADD"}) && !has(tokens, {"NOT", "VALID"})))) {
    all.push_back({"scans", "all columns of it are proven while nobody writes; ADD CONSTRAINT … NOT VALID"});
  } else if (begins(tokens, {"REVOKE"})) {
    revoke(tokens, own, all);
  } else if (begins(tokens, {"DO"}) || begins(tokens, {"CALL"})) {
    all.push_back({"hides", "what it does is not seen; write its statements plainly"});
  } else if (begins(tokens, {"CREATE", "INDEX"}) || begins(tokens, {"CREATE", "UNIQUE", "INDEX"})) {
    create_index(engine, tokens, own, all);
  } else if (begins(tokens, {"CLUSTER"}) || (begins(tokens, {"REFRESH"}) && !has(tokens, {"CONCURRENTLY"}))) {
    all.push_back({"rewrites", "nobody reads or writes it until it is done; leave it out, or refresh CONCURRENTLY"});
  } else if (begins(tokens, {"REINDEX"}) && engine == Engine::postgres && !has(tokens, {"CONCURRENTLY"})) {
    all.push_back({"locks", "nobody reads or writes until it is done; leave it out, or say CONCURRENTLY"});
  }
  return all;
}

// A statement of SQLite has the whole database to itself while it writes.
std::string lock_of_sqlite(Tokens tokens) {
  const bool reads = tokens.empty() || is_one_of(tokens.front(), {"SELECT", "VALUES", "EXPLAIN"});
  return std::string(reads ? "" : kWholeDatabase);
}

// -- sluice: allow RULE because REASON
bool is_allowed(const Statement& statement, std::string_view rule) {
  const std::string wanted = "-- sluice: allow " + std::string(rule) + " because ";
  const size_t found = statement.last_comment.find(wanted);
  if (found == std::string::npos) return false;
  const size_t reason = found + wanted.size();
  return reason < statement.last_comment.size() && statement.last_comment[reason] != '\n';
}

}  // namespace

std::vector<Impact> impacts(Engine engine, const Migration& migration) {
  std::vector<Impact> all;
  TableNames own;  // tables that this expansion makes: nobody has them yet
  auto add = [&](const std::string& file, const Statement& statement) -> Impact& {
    const Tokens tokens(statement.tokens);
    return all.emplace_back(Impact{
        .file = migration.name + "/" + file,
        .line = statement.line,
        .statement = statement.text,
        .lock = engine == Engine::postgres ? std::string(lock_name(lock_of(tokens, own))) : lock_of_sqlite(tokens)});
  };
  for (const Statement& statement : migration.expand) {
    const Tokens tokens(statement.tokens);
    Impact& impact = add("expand.sql", statement);
    for (const Found& each : look(engine, tokens, own)) {
      if (is_allowed(statement, each.rule)) continue;
      impact.findings.push_back({.file = impact.file,
                                 .line = statement.line,
                                 .rule = std::string(each.rule),
                                 .message = std::string(each.message)});
    }
    if (!begins(tokens, {"CREATE"})) continue;
    for (size_t i = 1; i < std::min<size_t>(tokens.size(), 5); ++i) {
      if (tokens[i] == "TABLE") own.insert(name_at(tokens.subspan(i + 1)));
    }
  }
  for (const Statement& statement : migration.contract) add("contract.sql", statement);
  return all;
}

std::vector<Finding> lint(Engine engine, const Migration& migration) {
  std::vector<Finding> findings;
  for (Impact& each : impacts(engine, migration)) {
    std::ranges::move(each.findings, std::back_inserter(findings));
  }
  return findings;
}

std::string to_line(const Impact& impact) {
  std::string text = impact.statement;
  std::ranges::replace(text, '\n', ' ');
  return impact.file + ":" + std::to_string(impact.line) + "  " + (impact.lock.empty() ? "no lock" : impact.lock) +
         "  " + text;
}

std::string to_line(const Finding& finding) {
  return finding.file + ":" + std::to_string(finding.line) + ": " + finding.rule + ": " + finding.message;
}

Result<void> check_expansion(Engine engine, const Migration& migration) {
  const std::vector<Finding> findings = lint(engine, migration);
  if (findings.empty()) return {};
  return Error{.code = Code::invalid,
               .message = to_line(findings.front()),
               .next = "or say before the statement: -- sluice: allow " + findings.front().rule + " because …"};
}

}  // namespace sluice::migrate
