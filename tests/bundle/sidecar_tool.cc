// Sluice's sidecars as a program, so that a test can set it beside an independent verifier: signs what it is told, and
// judges by a trust root. A refusal is a line `clause: why` on standard output and exit code 11.
#include <iostream>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/utc_time.h"
#include "bundle/trust/sidecar.h"
#include "bundle/trust/trust_root.h"
#include "bundle/trust/verdict.h"
#include "crypto/key_file.h"

namespace {

using namespace sluice;
using namespace sluice::bundle;

constexpr size_t kMaxFileBytes = 64 << 20;
constexpr std::string_view kUsage =
    "usage: sidecar_tool sign ARCHIVE TREE BUNDLE KEY… | judge ARCHIVE ROOT TREE BUNDLE ENVIRONMENT TIME\n";

Result<void> sign(Disk& disk, const std::vector<std::string>& words) {
  auto archive = read_file(disk, words[0], kMaxFileBytes);
  if (!archive) return archive.error();
  auto tree = crypto::parse_sha256(words[1]);
  if (!tree) return tree.error();
  std::vector<crypto::PrivateKey> keys;
  for (size_t i = 3; i < words.size(); ++i) {
    auto key = crypto::load_private_key(disk, words[i]);
    if (!key) return key.error();
    keys.push_back(*std::move(key));
  }
  Statement statement{.bundle = words[2],
                      .version = "1.0.0",
                      .tree = *tree,
                      .archive = crypto::sha256(*archive),
                      .parameters = {{"build", json::array{"make"}}},
                      .dependencies = {{.name = "make", .digest = {{"sha256", "00"}}}},
                      .builder_version = {{"sluice", "0.1.0"}},
                      .started_ms = 0};
  auto sidecar = sign_statement(statement, keys);
  if (!sidecar) return sidecar.error();
  return write_sidecar(disk, sidecar_path(words[0]), *sidecar);
}

Result<Verdict> judge(Disk& disk, const std::vector<std::string>& words) {
  auto archive = read_file(disk, words[0], kMaxFileBytes);
  if (!archive) return archive.error();
  auto text = read_file(disk, words[1], kMaxFileBytes);
  if (!text) return text.error();
  auto root = parse_trust_root(*text, words[1]);
  if (!root) return root.error();
  auto tree = crypto::parse_sha256(words[2]);
  if (!tree) return tree.error();
  auto now_ms = parse_utc(words[5]);
  if (!now_ms) return now_ms.error();
  auto sidecar = read_sidecar(disk, sidecar_path(words[0]));
  if (!sidecar) return sidecar.error();
  Claim claim{.tree = *tree, .archive = crypto::sha256(*archive), .bundle = words[3], .environment = words[4]};
  return verify(*root, *sidecar, claim, *now_ms);
}

int refuse(const Error& error) {
  std::cerr << to_string(error) << '\n';
  return exit_code(error.code);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  std::string command = words.empty() ? "" : words[0];
  if (!words.empty()) words.erase(words.begin());
  RealDisk disk;
  if (command == "sign" && words.size() >= 4) {
    auto done = sign(disk, words);
    return done ? 0 : refuse(done.error());
  }
  if (command == "judge" && words.size() == 6) {
    auto verdict = judge(disk, words);
    if (!verdict) return refuse(verdict.error());
    if (const auto* no = std::get_if<Refusal>(&*verdict)) {
      std::cout << name_of(no->clause) << ": " << no->message << '\n';
      return exit_code(to_error(*no).code);
    }
    for (const std::string& key : std::get<Verified>(*verdict).keys) std::cout << key << '\n';
    return 0;
  }
  std::cerr << kUsage;
  return exit_code(Code::usage);
}
