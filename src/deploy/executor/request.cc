// What came with a request as one JSON document.
#include "deploy/executor/request.h"

#include "base/canonical_json.h"
#include "base/json.h"
#include "crypto/sha256.h"

namespace sluice::deploy::executor {
namespace {

Result<json::value> read_object(const std::string& text, const std::string& what) {
  auto read = parse_json(text, what);
  if (!read) return read.error();
  if (!read->root.is_object()) return Error{.code = Code::invalid, .message = "the " + what + " are no JSON object"};
  return std::move(read->root);
}

Result<std::vector<rendering::TemplateFile>> read_files(const json::value& value) {
  const Error wrong{.code = Code::invalid, .message = "the files are no JSON list of `path` and `text`"};
  std::vector<rendering::TemplateFile> files;
  if (!value.is_array()) return wrong;
  for (const json::value& each : value.get_array()) {
    const std::string path = kube::text_at(each, {"path"});
    if (path.empty() || !kube::at(each, {"text"}).is_string()) return wrong;
    files.push_back({path, kube::text_at(each, {"text"})});
  }
  return files;
}

}  // namespace

Result<Sent> read_sent(const std::string& values, const std::string& runtime_values, const std::string& files) {
  Sent sent;
  if (!values.empty()) {
    auto read = read_object(values, "values");
    if (!read) return read.error();
    sent.values = *std::move(read);
  }
  if (!runtime_values.empty()) {
    auto read = read_object(runtime_values, "runtime values");
    if (!read) return read.error();
    sent.runtime_values = *std::move(read);
  }
  if (!files.empty()) {
    auto parsed = parse_json(files, "files");
    if (!parsed) return parsed.error();
    auto read = read_files(parsed->root);
    if (!read) return read.error();
    sent.files = *std::move(read);
  }
  return sent;
}

std::string write_sent(const Sent& sent) {
  json::array files;
  for (const rendering::TemplateFile& each : sent.files) files.push_back({{"path", each.path}, {"text", each.text}});
  return write(
      json::object{{"values", sent.values}, {"runtimeValues", sent.runtime_values}, {"files", std::move(files)}});
}

Result<Sent> read_sent(std::string_view kept) {
  auto parsed = parse_json_value(kept);
  if (!parsed) return parsed.error();
  auto files = read_files(kube::at(*parsed, {"files"}));
  if (!files) return files.error();
  return Sent{.values = kube::at(*parsed, {"values"}),
              .runtime_values = kube::at(*parsed, {"runtimeValues"}),
              .files = *std::move(files)};
}

Result<std::vector<SecretWanted>> secrets_wanted(const Sent& sent, const std::string& environment) {
  std::vector<SecretWanted> wanted;
  if (auto added = add_secrets_wanted(sent.values, "values", environment, wanted); !added) return added.error();
  if (auto added = add_secrets_wanted(sent.runtime_values, "runtimeValues", environment, wanted); !added) {
    return added.error();
  }
  return wanted;
}

Result<std::string> hash_of(const json::value& values) {
  auto text = canonical(values);
  if (!text) return text.error();
  return crypto::to_string(crypto::sha256(*text));
}

Piece piece_of(const kube::ObjectRef& ref) {
  return {.api_version = ref.api_version, .kind = ref.kind, .name_space = ref.name_space, .name = ref.name};
}

}  // namespace sluice::deploy::executor
