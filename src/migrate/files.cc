// Names and texts of files become migrations; what could only fail later is refused here.
#include "migrate/files.h"

#include <algorithm>
#include <charconv>

#include "base/atomic_file.h"
#include "base/json_reader.h"
#include "base/yaml.h"
#include "crypto/sha256.h"

namespace sluice::migrate {
namespace {

constexpr size_t kMaxTexts = 10'000;
constexpr size_t kMaxTextBytes = 4 << 20;

struct Rules {
  std::vector<CopyRule> copy;
  static constexpr std::string_view kDefaulted[] = {"copy"};
};
BOOST_DESCRIBE_STRUCT(Rules, (), (copy))

Error refuse(std::string message, std::string next = "") {
  return {.code = Code::invalid, .message = std::move(message), .next = std::move(next)};
}

// "0007_split_name" and "expand.sql" of "0007_split_name/expand.sql"; "0001_init" and "" of "0001_init.sql".
struct Place {
  int64_t number = 0;
  std::string name;
  std::string file;
};

Result<Place> place_of(const std::string& path) {
  Place place;
  size_t slash = path.find('/');
  if (slash != std::string::npos) {
    place.name = path.substr(0, slash);
    place.file = path.substr(slash + 1);
  } else if (path.ends_with(".sql")) {
    place.name = path.substr(0, path.size() - 4);
  } else {
    return refuse(path + " is no migration", "name it NUMBER_NAME.sql, or make it a folder NUMBER_NAME");
  }
  const char* end = place.name.data() + place.name.size();
  auto [after, code] = std::from_chars(place.name.data(), end, place.number);
  if (code != std::errc() || after == end || *after != '_' || place.number < 1) {
    return refuse(path + " does not begin with its number", "name it like 0001_init");
  }
  return place;
}

bool begins_with_word(const Statement& statement, std::string_view word) {
  return statement.first == word || statement.first.starts_with(std::string(word) + " ");
}

// What would end the transaction that a statement runs in, or change the session that later statements run in.
std::optional<std::string> why_not(Engine engine, const Statement& statement) {
  for (std::string_view word :
       {"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE TRANSACTION"}) {
    if (begins_with_word(statement, word)) {
      return "transactions are Sluice's: it runs each statement of an expansion, and a whole contraction, in one";
    }
  }
  for (std::string_view word : {"SET", "RESET", "DISCARD", "LISTEN", "PREPARE", "DEALLOCATE", "LOCK", "COPY"}) {
    if (engine == Engine::postgres && begins_with_word(statement, word)) {
      return "what it changes holds for a session, and each statement has one of its own";
    }
  }
  for (std::string_view word : {"ATTACH", "DETACH", "PRAGMA", "VACUUM"}) {
    if (engine == Engine::sqlite && begins_with_word(statement, word)) return "it is not for a migration";
  }
  if (engine == Engine::postgres && begins_with_word(statement, "VACUUM")) return "it is not for a migration";
  return std::nullopt;
}

Result<std::vector<Statement>> statements_of(Engine engine, const std::string& path, const std::string& text) {
  auto statements = split_statements(engine, text, path);
  if (!statements) return statements;
  for (const Statement& each : *statements) {
    if (auto why = why_not(engine, each)) {
      Error error = refuse(each.first.substr(0, each.first.find(' ')) + " does not belong into a migration: " + *why,
                           "leave it out");
      error.position = Position{path, each.line, 1};
      return error;
    }
  }
  return statements;
}

Result<void> check_rule(Engine engine, const CopyRule& rule) {
  if (rule.key.empty())
    return refuse("the copy of " + rule.table + " names no key", "name the columns of a unique key");
  if (rule.forward.empty()) return refuse("the copy of " + rule.table + " has no forward");
  std::vector<std::string> names = rule.key;
  for (const auto& [column, expression] : rule.forward) names.push_back(column);
  for (const auto& [column, expression] : rule.back) {
    names.push_back(column);
    if (rule.forward.contains(column)) return refuse(column + " of " + rule.table + " is on both sides of its copy");
  }
  if (auto table = parse_name(engine, rule.table); !table) return table.error();
  for (const std::string& name : names) {
    auto parsed = parse_name(engine, name);
    if (!parsed) return parsed.error();
    if (parsed->size() != 1) return refuse(name + " is no column of " + rule.table);
    bool is_key = std::ranges::find(rule.key, name) != rule.key.end();
    if (is_key && (rule.forward.contains(name) || rule.back.contains(name))) {
      return refuse("the key " + name + " of " + rule.table + " is copied, too", "use a key that stays as it is");
    }
  }
  // An expression is put into statements of ours: it must be one.
  for (const auto* side : {&rule.forward, &rule.back}) {
    for (const auto& [column, expression] : *side) {
      auto parts = split_statements(engine, expression, rule.table + "." + column);
      if (!parts) return parts.error();
      if (parts->size() != 1 || parts->front().text.size() < expression.find_last_not_of(" \n\t") + 1) {
        return refuse("\"" + expression + "\" is no expression for " + column);
      }
    }
  }
  return {};
}

Result<void> add_file(Engine engine, Migration& migration, const std::string& path, const std::string& file,
                      const std::string& text) {
  std::string name = file.empty() ? "expand.sql" : file;
  migration.files[name] = crypto::to_string(crypto::sha256(text));
  if (name == "migration.yaml") {
    auto document = parse_yaml(text, path);
    if (!document) return document.error();
    auto rules = read<Rules>(*document);
    if (!rules) return rules.error();
    for (const CopyRule& rule : rules->copy) {
      auto checked = check_rule(engine, rule);
      if (!checked) {
        Error error = checked.error();
        if (!error.position) error.position = Position{path, 1, 1};
        return error;
      }
    }
    migration.copy = rules->copy;
    return {};
  }
  auto* into = name == "expand.sql"     ? &migration.expand
               : name == "check.sql"    ? &migration.check
               : name == "contract.sql" ? &migration.contract
                                        : nullptr;
  if (into == nullptr) {
    return refuse(path + " is no file of a migration",
                  "a migration has expand.sql, migration.yaml, check.sql and contract.sql");
  }
  auto statements = statements_of(engine, path, text);
  if (!statements) return statements.error();
  *into = *std::move(statements);
  return {};
}

}  // namespace

Result<Migrations> read_migrations(Engine engine, const Texts& texts) {
  std::map<int64_t, Migration> by_number;
  for (const auto& [path, text] : texts) {
    auto place = place_of(path);
    if (!place) return place.error();
    Migration& migration = by_number[place->number];
    bool fresh = migration.name.empty();
    bool same = migration.name == place->name && !place->file.empty() && !migration.files.contains(place->file);
    if (!fresh && !same) {
      return refuse("number " + std::to_string(place->number) + " is both " + migration.name + " and " + place->name,
                    "give the newer one the next number that is free");
    }
    migration.number = place->number;
    migration.name = place->name;
    auto added = add_file(engine, migration, path, place->file, text);
    if (!added) return added.error();
  }
  Migrations all;
  for (auto& [number, migration] : by_number) {
    if (number != static_cast<int64_t>(all.size()) + 1) {
      return refuse("there is no migration " + std::to_string(all.size() + 1) + ", and one with the number " +
                        std::to_string(number),
                    "number them from 1, without gaps");
    }
    if (!migration.files.contains("expand.sql")) {
      return refuse(migration.name + " has no expand.sql", "add one; it may be empty");
    }
    all.push_back(std::move(migration));
  }
  return all;
}

Result<Texts> read_texts(Disk& disk, const std::string& folder) {
  Texts texts;
  auto take = [&](const std::string& below) -> Result<void> {
    if (texts.size() >= kMaxTexts) {
      return Error{.code = Code::limit, .message = folder + " has more files than migrations have"};
    }
    auto text = read_file(disk, folder + "/" + below, kMaxTextBytes);
    if (!text) return text.error();
    texts[below] = *std::move(text);
    return {};
  };
  auto entries = disk.list(folder);
  if (!entries) return entries.error();
  for (const FolderEntry& entry : *entries) {
    if (entry.name.starts_with('.')) continue;
    if (entry.kind != FileKind::folder) {
      if (auto taken = take(entry.name); !taken) return taken.error();
      continue;
    }
    auto inner = disk.list(folder + "/" + entry.name);
    if (!inner) return inner.error();
    for (const FolderEntry& each : *inner) {
      if (each.name.starts_with('.')) continue;
      if (auto taken = take(entry.name + "/" + each.name); !taken) return taken.error();
    }
  }
  return texts;
}

}  // namespace sluice::migrate
