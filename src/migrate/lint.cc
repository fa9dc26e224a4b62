// Statements are looked at in the order in which they would be run.
#include "migrate/lint.h"

#include <algorithm>

#include "migrate/lint_postgres.h"
#include "migrate/lint_sqlite.h"
#include "migrate/lock_level.h"

namespace sluice::migrate {
namespace {

// -- sluice: allow RULE because REASON
bool is_allowed(const Statement& statement, std::string_view rule) {
  const std::string wanted = "-- sluice: allow " + std::string(rule) + " because ";
  const size_t found = statement.last_comment.find(wanted);
  if (found == std::string::npos) return false;
  const size_t reason = found + wanted.size();
  return reason < statement.last_comment.size() && statement.last_comment[reason] != '\n';
}

// What is looked at: the statement's lock and the rules that it breaks.
struct Looked {
  std::string lock;
  std::vector<Broken> broken;
};

Looked look_at(const Statement& statement, TableNames& own) {
  auto tree = parse_postgres(statement.text);
  if (!tree) {
    const Position place = tree.error().position.value_or(Position{.line = 1, .column = 1});
    return {.broken = {{.rule = std::string(kUnparsed), .message = tree.error().message, .place = place}}};
  }
  Looked looked{.lock = std::string(lock_name(lock_of(*tree, own))), .broken = rules_broken(*tree, own)};
  note_own_tables(*tree, own);
  return looked;
}

// A statement of SQLite has the whole database to itself while it writes.
Looked look_at(const Statement& statement, SqliteLint& sqlite) {
  const bool reads = statement.tokens.empty() || is_one_of(statement.tokens.front(), {"SELECT", "VALUES", "EXPLAIN"});
  return {.lock = std::string(reads ? "" : kWholeDatabase), .broken = sqlite.look(statement)};
}

Finding finding_of(const std::string& file, const Statement& statement, const Broken& broken) {
  Finding finding{.file = file, .line = statement.line, .rule = broken.rule, .message = broken.message};
  if (broken.rule != kUnparsed) return finding;
  finding.line += broken.place.line - 1;
  const uint32_t column = broken.place.column + (broken.place.line == 1 ? statement.column - 1 : 0);
  finding.message += ", at column " + std::to_string(column);
  return finding;
}

}  // namespace

Linter::Linter(Engine engine) : engine_(engine) {
  if (engine == Engine::sqlite) sqlite_ = std::make_unique<SqliteLint>();
}
Linter::Linter(Linter&&) noexcept = default;
Linter::~Linter() = default;

Result<void> Linter::begin_at(Database& database) {
  if (sqlite_ == nullptr) return {};
  return sqlite_->copy_schema(database);
}

std::vector<Impact> Linter::look(const Migration& migration) {
  std::vector<Impact> all;
  TableNames own;  // tables that this expansion makes: nobody has them yet
  if (sqlite_ != nullptr) sqlite_->begin_expansion();
  auto add = [&](const std::string& name, const Statement& statement) {
    Looked looked = sqlite_ == nullptr ? look_at(statement, own) : look_at(statement, *sqlite_);
    Impact impact{.file = migration.name + "/" + name,
                  .line = statement.line,
                  .statement = statement.text,
                  .lock = std::move(looked.lock)};
    for (const Broken& each : looked.broken) {
      const bool counts = name == "expand.sql" || each.rule == kUnparsed;
      if (!counts || is_allowed(statement, each.rule)) continue;
      impact.findings.push_back(finding_of(impact.file, statement, each));
    }
    if (name != "check.sql" || !impact.findings.empty()) all.push_back(std::move(impact));
  };
  for (const Statement& statement : migration.expand) add("expand.sql", statement);
  for (const Statement& statement : migration.check) add("check.sql", statement);
  for (const Statement& statement : migration.contract) add("contract.sql", statement);
  return all;
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

Result<void> check(const std::vector<Impact>& impacts) {
  for (const Impact& each : impacts) {
    if (each.findings.empty()) continue;
    const Finding& first = each.findings.front();
    return Error{.code = Code::invalid,
                 .message = to_line(first),
                 .next = "or say before the statement: -- sluice: allow " + first.rule + " because …"};
  }
  return {};
}

}  // namespace sluice::migrate
