// Deployments are read one by one, each for itself. There may be very many, so their texts are cut out of the table's
// first: the tree of one of them is all that is in memory.
#include "router/table/table_document.h"

#include <optional>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/terminal.h"
#include "base/thread_turns.h"

namespace sluice::router {
namespace {

// Room for 100,000 deployments with a few lines each.
constexpr JsonLimits kTableLimits{.max_depth = 16, .max_bytes = size_t{256} << 20, .max_nodes = 20'000'000};
constexpr JsonLimits kDeploymentLimits{.max_depth = 14};
constexpr size_t kCutInATurn = 64;

std::string id_in(const json::value& deployment) {
  const json::object* object = deployment.if_object();
  const json::value* id = object != nullptr ? object->if_contains("id") : nullptr;
  if (id == nullptr || !id->is_string()) return "";
  return printable(std::string(id->get_string()).substr(0, 64));
}

Error wrong_schema(std::string_view expected, const std::string& found) {
  return {.code = Code::invalid,
          .message = "schema is '" + printable(found.substr(0, 80)) + "', expected '" + std::string(expected) + "'",
          .path = "/schema"};
}

// A table's text without its deployments, and theirs.
struct CutTable {
  std::string rest;
  std::vector<std::string_view> deployments;
};

constexpr size_t kNowhere = std::string_view::npos;

// Behind the string that begins at `at`; kNowhere if it does not end.
size_t behind_string(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return kNowhere;
}

// Where the next string or object begins, or an object ends; kNowhere if there is nothing like it.
size_t next_mark(std::string_view text, size_t at) {
  while (at < text.size() && text[at] != '"' && text[at] != '{' && text[at] != '}') ++at;
  return at < text.size() ? at : kNowhere;
}

// Behind the object that begins at `at`, whether or not it is JSON; kNowhere if it does not end.
size_t behind_object(std::string_view text, size_t at) {
  for (int open = 0; (at = next_mark(text, at)) != kNowhere;) {
    if (text[at] == '"') {
      at = behind_string(text, at);
      continue;
    }
    open += text[at] == '{' ? 1 : -1;
    ++at;
    if (open == 0) break;
  }
  return at;
}

size_t behind_blanks(std::string_view text, size_t at) { return text.find_first_not_of(" \t\r\n", at); }

// Behind the bracket with which the list of deployments begins; kNowhere if there is none.
size_t begin_of_deployments(std::string_view text) {
  size_t at = behind_blanks(text, 0);
  if (at == kNowhere || text[at] != '{') return kNowhere;
  for (++at; (at = next_mark(text, at)) != kNowhere && text[at] != '}';) {
    size_t end = text[at] == '{' ? behind_object(text, at) : behind_string(text, at);
    if (end == kNowhere) return end;
    bool named = text.substr(at, end - at) == "\"deployments\"";
    at = end;
    if (!named) continue;
    size_t colon = behind_blanks(text, at);
    if (colon == kNowhere || text[colon] != ':') continue;  // it is a value
    size_t bracket = behind_blanks(text, colon + 1);
    return bracket != kNowhere && text[bracket] == '[' ? bracket + 1 : kNowhere;
  }
  return kNowhere;
}

// Nothing if the deployments are not a list of objects.
std::optional<CutTable> cut(std::string_view text) {
  size_t begin = begin_of_deployments(text);
  if (begin == kNowhere) return std::nullopt;
  CutTable table{.rest = std::string(text.substr(0, begin))};
  size_t at = behind_blanks(text, begin);
  while (at != kNowhere && text[at] == '{') {
    size_t end = behind_object(text, at);
    if (end == kNowhere) return std::nullopt;
    if (table.deployments.size() % kCutInATurn == 0) give_way();
    table.deployments.push_back(text.substr(at, end - at));
    at = behind_blanks(text, end);
    if (at == kNowhere || text[at] != ',') break;
    at = behind_blanks(text, at + 1);
    if (at == kNowhere || text[at] != '{') return std::nullopt;
  }
  if (at == kNowhere || text[at] != ']') return std::nullopt;
  table.rest += text.substr(at);
  return table;
}

// What concerns the whole table.
Result<ReadTable> read_head(const json::value& root) {
  // Positions are those of the whole text, so they are of no use without the deployments.
  auto document = read<TableDocument>(root);
  if (!document) return document.error();
  if (document->schema != kTableSchema) return wrong_schema(kTableSchema, document->schema);
  if (document->generation < 1) {
    return Error{.code = Code::invalid, .message = "a table's generation is at least 1", .path = "/generation"};
  }
  if (document->environment.empty() || document->environment.size() > 200) {
    return Error{.code = Code::invalid, .message = "expected the name of an environment", .path = "/environment"};
  }
  if (document->access_log_bps < 0 || document->access_log_bps > 10'000) {
    return Error{.code = Code::invalid, .message = "expected 0 to 10000 basis points", .path = "/access_log_bps"};
  }
  if (document->connections_per_address && *document->connections_per_address < 1) {
    return Error{.code = Code::invalid, .message = "expected at least 1", .path = "/connections_per_address"};
  }
  return ReadTable{.document = *std::move(document)};
}

void add_deployment(ReadTable& table, size_t number, const json::value& given) {
  auto deployment = read<DeploymentDocument>(given);
  if (deployment) {
    table.document.deployments.push_back(*std::move(deployment));
    return;
  }
  Error error = deployment.error();
  error.path = "/deployments/" + std::to_string(number) + error.path;
  table.quarantined.push_back({id_in(given), to_string(error)});
}

// Nothing if it is no JSON, or not as tables are written: whoever reads it as a whole says what is wrong.
std::optional<Result<ReadTable>> read_cut(std::string_view text) {
  auto parts = cut(text);
  auto rest = parts ? parse_json(parts->rest, "", kTableLimits) : Result<Document>(Error{});
  if (!rest) return std::nullopt;
  auto table = read_head(rest->root);
  if (!table) return table;
  table->document.deployments.reserve(parts->deployments.size());
  for (size_t i = 0; i < parts->deployments.size(); ++i) {
    if (i % kDeploymentsInATurn == 0) give_way();
    auto deployment = parse_json_value(parts->deployments[i], kDeploymentLimits);
    if (!deployment) return std::nullopt;
    add_deployment(*table, i, *deployment);
  }
  return table;
}

}  // namespace

Result<ReadTable> read_table(std::string_view text, const std::string& file) {
  if (text.size() <= kTableLimits.max_bytes) {
    if (auto read = read_cut(text)) return *std::move(read);
  }
  auto parsed = parse_json(text, file, kTableLimits);
  if (!parsed) return parsed.error();
  json::array deployments;
  if (json::object* root = parsed->root.if_object()) {
    if (json::value* given = root->if_contains("deployments"); given != nullptr && given->is_array()) {
      deployments = std::move(given->get_array());
      *given = json::array();
    }
  }
  auto table = read_head(parsed->root);
  if (!table) return table;
  for (size_t i = 0; i < deployments.size(); ++i) add_deployment(*table, i, deployments[i]);
  return table;
}

Result<ReadPatch> read_patch(std::string_view text) {
  auto parsed = parse_json(text, "", kTableLimits);
  if (!parsed) return parsed.error();
  auto document = read<PatchDocument>(*parsed);
  if (document && document->schema != kPatchSchema) return wrong_schema(kPatchSchema, document->schema);
  if (document && document->deployment.has_value() == document->removed.has_value()) {
    return Error{.code = Code::invalid, .message = "a patch has either a deployment or the id of one that is removed"};
  }
  if (document) {
    std::string id = document->deployment ? document->deployment->id : *document->removed;
    return ReadPatch{.document = *std::move(document), .deployment = std::move(id)};
  }
  const json::object* root = parsed->root.if_object();
  const json::value* deployment = root != nullptr ? root->if_contains("deployment") : nullptr;
  if (deployment == nullptr || id_in(*deployment).empty()) return document.error();
  std::string id = id_in(*deployment);
  return ReadPatch{.deployment = id, .quarantined = Quarantined{id, to_string(document.error())}};
}

}  // namespace sluice::router
