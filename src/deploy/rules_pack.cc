// The index is written behind its files: whoever finds it finds them.
#include "deploy/rules_pack.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/canonical_json.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "crypto/dsse.h"
#include "crypto/sha256.h"

namespace sluice::deploy {
namespace {

constexpr std::string_view kIndex = "rules.json";
constexpr size_t kMostFiles = 100;

bool is_plain(const std::string& name) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
  return !name.empty() && name.size() <= 100 && name.front() != '.' && std::ranges::all_of(name, fits) &&
         !name.starts_with(kIndex);
}

Result<void> make_folder(Disk& disk, const std::string& path) {
  auto made = disk.make_folder(path, 0700);
  if (!made && made.error().code != Code::conflict) return made;
  return {};
}

}  // namespace

Result<std::string> RulesPacks::write(RulesIndex index, const std::vector<RulesFile>& files) const {
  if (files.size() > kMostFiles) return Error{.code = Code::limit, .message = "a rules pack has at most 100 files"};
  const std::string own = folder_ + "/" + index.env_id;
  for (const std::string& each : {folder_, own}) {
    if (auto made = make_folder(disk_, each); !made) return made.error();
  }
  for (const RulesFile& each : files) {
    if (!is_plain(each.path)) {
      return Error{.code = Code::invalid, .message = "'" + printable(each.path) + "' is no name of a file of rules"};
    }
    if (auto written = write_atomically(disk_, own + "/" + each.path, each.text, 0600); !written) {
      return written.error();
    }
    index.files.push_back({.path = each.path, .sha256 = crypto::to_hex(crypto::sha256(each.text))});
  }
  auto text = canonical(to_json(index));
  if (!text) return text.error();
  auto key = key_();
  if (!key) return key.error();
  auto envelope = crypto::sign_envelope(kRulesType, *text, {&*key, 1});
  if (!envelope) return envelope.error();
  const std::string file = own + "/" + std::string(kIndex);
  if (auto written = write_atomically(disk_, file, *text, 0600); !written) return written.error();
  if (auto written = write_atomically(disk_, file + ".sig", crypto::write_envelope(*envelope), 0600); !written) {
    return written.error();
  }
  return "rules/" + index.env_id + "/" + std::string(kIndex);
}

}  // namespace sluice::deploy
