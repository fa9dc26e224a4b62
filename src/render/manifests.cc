// Reading, checking, hashing, labelling: one function each.
#include "render/manifests.h"

#include <algorithm>
#include <tuple>

#include "base/ascii.h"
#include "base/canonical_json.h"
#include "base/jail.h"
#include "crypto/base64.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::rendering {
namespace {

constexpr size_t kMostFiles = 5'000;
constexpr size_t kMostBytes = size_t{32} << 20;
constexpr int kDeepest = 32;

Error not_fetched(const std::string& message) { return {.code = Code::not_found, .message = message}; }

struct Reading {
  Disk& disk;
  Jail jail;
  std::vector<TemplateFile> files;
  size_t bytes = 0;

  Result<void> folder(const std::string& beneath, const std::string& shown, int depth) {
    if (depth > kDeepest) return Error{.code = Code::limit, .message = "the template's folders are too deep"};
    auto entries = disk.list(jail.root() + "/" + beneath);
    if (!entries) return not_fetched("the template's folder '" + shown + "' cannot be read");
    for (const FolderEntry& each : *entries) {
      const std::string path = beneath + "/" + each.name;
      const std::string said = shown.empty() ? each.name : shown + "/" + each.name;
      if (each.kind == FileKind::folder) {
        if (auto read = folder(path, said, depth + 1); !read) return read;
      } else if (each.kind == FileKind::file && (each.name.ends_with(".yaml") || each.name.ends_with(".yml"))) {
        if (auto read = file(path, said); !read) return read;
      }
    }
    return {};
  }

  Result<void> file(const std::string& path, const std::string& said) {
    auto opened = jail.open(path, {});
    if (!opened) return not_fetched("the template '" + said + "' cannot be read");
    auto size = (*opened)->size();
    if (!size) return size.error();
    bytes += *size;
    if (files.size() >= kMostFiles || bytes > kMostBytes) {
      return Error{.code = Code::limit, .message = "a template has at most 5000 files and 32 MB"};
    }
    std::string text(*size, '\0');
    auto read = (*opened)->read_at(0, text);
    if (!read) return read.error();
    text.resize(*read);
    files.push_back({said, std::move(text)});
    return {};
  }
};

std::string text_at(const json::value& object, std::string_view name) {
  const json::object* root = object.if_object();
  const json::value* found = root == nullptr ? nullptr : root->if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

json::object& object_at(json::value& object, std::string_view name) {
  json::value& found = object.as_object()[name];
  if (!found.is_object()) found = json::object();
  return found.get_object();
}

// White space that base64 brings along is taken out of Secrets; what is left must be base64.
void mend_secret(json::value& object, std::vector<std::string>& faults) {
  if (text_at(object, "kind") != "Secret") return;
  json::value* data = object.as_object().if_contains("data");
  if (data == nullptr || !data->is_object()) return;
  for (auto& each : data->get_object()) {
    const std::string key = "secret data key `" + std::string(each.key()) + "`";
    if (!each.value().is_string()) {
      faults.push_back(key + " is no text");
      continue;
    }
    std::string text(each.value().get_string());
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
    if (!crypto::from_base64(text)) faults.push_back(key + " is no base64");
    each.value() = text;
  }
}

// An object without what each has; mends what can be mended.
std::vector<std::string> faults_of(json::value& object) {
  if (!object.is_object()) return {"this is no object of Kubernetes"};
  std::vector<std::string> faults;
  for (const char* name : {"apiVersion", "kind"}) {
    if (text_at(object, name).empty()) faults.push_back(std::string("missing required field `") + name + "`");
  }
  const json::value* metadata = object.get_object().if_contains("metadata");
  if (metadata == nullptr || text_at(*metadata, "name").empty()) {
    faults.emplace_back("missing required field `metadata.name`");
  }
  mend_secret(object, faults);
  return faults;
}

json::value with_hidden_values(json::value object, const crypto::Hmac& hmac) {
  if (text_at(object, "kind") != "Secret") return object;
  for (const char* name : {"data", "stringData"}) {
    json::value* values = object.get_object().if_contains(name);
    if (values == nullptr || !values->is_object()) continue;
    for (auto& each : values->get_object()) {
      if (each.value().is_string()) each.value() = crypto::to_hex(hmac.mac(each.value().get_string()));
    }
  }
  return object;
}

}  // namespace

Result<std::vector<TemplateFile>> read_local_templates(Disk& disk, const std::string& base, const std::string& path) {
  const Jail jail(disk, base);
  auto plain = jail.check(path);
  if (!plain) {
    return Error{.code = Code::denied, .message = "the template's path '" + path + "' leads out of its folder"};
  }
  std::string so_far = base;
  for (size_t begin = 0; begin <= plain->size();) {
    const size_t end = std::min(plain->find('/', begin), plain->size());
    so_far += "/" + plain->substr(begin, end - begin);
    auto stat = disk.stat(so_far, FollowLinks::no);
    if (!stat || stat->kind != FileKind::folder) return not_fetched("there is no template '" + path + "'");
    begin = end + 1;
  }
  Reading reading{.disk = disk, .jail = jail};
  if (auto read = reading.folder(*plain, "", 0); !read) return read.error();
  if (reading.files.empty()) return not_fetched("the template '" + path + "' has no YAML file");
  std::ranges::sort(reading.files, {}, &TemplateFile::path);
  return std::move(reading.files);
}

Result<Manifests> make_objects(const std::vector<TemplateFile>& files, const json::value& values,
                               const crypto::Hmac& hmac) {
  Filled filled = fill(files, values);
  Manifests made;
  json::array hashed;
  for (FilledDocument& each : filled.documents) {
    if (!each.is_complete) continue;
    const std::vector<std::string> faults = faults_of(each.root);
    for (const std::string& fault : faults) filled.faults.push_back({each.begin, fault});
    if (!faults.empty()) continue;
    hashed.push_back(json::object{{"path", each.begin.file}, {"object", with_hidden_values(each.root, hmac)}});
    made.taint.add_secret_object(each.root);
    made.objects.push_back({each.begin.file, std::move(each.root)});
  }
  for (const std::string& each : filled.secrets) made.taint.add(each);
  if (!filled.faults.empty()) {
    std::ranges::stable_sort(filled.faults, {}, [](const Fault& each) {
      return std::tie(each.position.file, each.position.line, each.position.column);
    });
    return Error{.code = Code::invalid, .message = to_string(filled.faults)};
  }
  auto text = canonical(hashed);
  if (!text) return text.error();
  made.hash = crypto::to_string(crypto::sha256(*text));
  return made;
}

void place(json::value& object, const std::string& name_space, bool cluster_scoped, const Labels& labels) {
  json::object& metadata = object_at(object, "metadata");
  if (!cluster_scoped && !metadata.contains("namespace")) metadata["namespace"] = name_space;
  json::value& held = metadata["labels"];
  if (!held.is_object()) held = json::object();
  json::object& all = held.get_object();
  all[kManagedBy] = kManager;
  all[kHostLabel] = labels.host;
  all[kInstanceLabel] = labels.instance;
  all[kRequestLabel] = labels.request;
}

std::string label_fault(std::string_view value) {
  if (value.empty()) return "it is empty";
  if (value.size() > 63) return "it is longer than 63 characters";
  auto inner = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
  auto outer = [](char c) { return is_letter(c) || is_digit(c); };
  if (!std::ranges::all_of(value, inner) || !outer(value.front()) || !outer(value.back())) {
    return "it has other characters than letters, digits, '-', '_' and '.', or does not begin and end with a letter "
           "or a digit";
  }
  return "";
}

}  // namespace sluice::rendering
