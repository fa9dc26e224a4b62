// Debian's folder for local authorities, and certutil for NSS.
#include "cli/machine_trust.h"

#include <algorithm>

#include "base/atomic_file.h"

namespace sluice::cli {
namespace {

constexpr const char* kSystemFolder = "/usr/local/share/ca-certificates";
constexpr int64_t kPatience_ms = 300'000;

}  // namespace

std::string MachineTrust::system_file(const std::string& label) const {
  std::string name = label;
  for (char& c : name) {
    if (c == ' ' || c == '/') c = '-';
  }
  return std::string(kSystemFolder) + "/" + name + ".crt";
}

// Chromium's, and one for each profile of Firefox.
std::vector<std::string> MachineTrust::browser_stores() {
  std::vector<std::string> stores;
  const std::string home = variables_("HOME").value_or("");
  if (home.empty()) return stores;
  auto has_store = [&](const std::string& folder) {
    auto there = disk_.exists(folder + "/cert9.db");
    return there && *there;
  };
  if (has_store(home + "/.pki/nssdb")) stores.push_back(home + "/.pki/nssdb");
  const std::string profiles = home + "/.mozilla/firefox";
  if (auto entries = disk_.list(profiles)) {
    for (const FolderEntry& each : *entries) {
      if (has_store(profiles + "/" + each.name)) stores.push_back(profiles + "/" + each.name);
    }
  }
  return stores;
}

Result<process::Ran> MachineTrust::run(std::vector<std::string> argv) {
  return runner_.run({.argv = std::move(argv),
                      .folder = "/",
                      .environment = {{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                                      {"HOME", variables_("HOME").value_or("/")}},
                      .deadline_ms = kPatience_ms},
                     [] { return false; });
}

std::string MachineTrust::trouble_of(const Result<process::Ran>& ran) {
  if (!ran) return ran.error().message;
  if (ran->good()) return "";
  const auto lines = process::last_lines(*ran, 1);
  return lines.empty() ? to_string(*ran) : lines.front();
}

std::vector<MachineTrust::Step> MachineTrust::install(const std::string& label, const std::string& pem) {
  std::vector<Step> steps;
  auto written = write_atomically(disk_, system_file(label), pem, 0644);
  steps.push_back({"the system", written ? trouble_of(run({"update-ca-certificates"})) : written.error().message});
  for (const std::string& store : browser_stores()) {
    (void)run({"certutil", "-D", "-d", "sql:" + store, "-n", label});
    steps.push_back({store, trouble_of(run({"certutil", "-A", "-d", "sql:" + store, "-t", "C,,", "-n", label, "-i",
                                            system_file(label)}))});
  }
  return steps;
}

std::vector<MachineTrust::Step> MachineTrust::remove(const std::string& label) {
  std::vector<Step> steps;
  for (const std::string& store : holding(label)) {
    if (store == "the system") {
      auto removed = disk_.remove(system_file(label));
      steps.push_back(
          {store, removed ? trouble_of(run({"update-ca-certificates", "--fresh"})) : removed.error().message});
    } else {
      steps.push_back({store, trouble_of(run({"certutil", "-D", "-d", "sql:" + store, "-n", label}))});
    }
  }
  return steps;
}

std::vector<std::string> MachineTrust::holding(const std::string& label) {
  std::vector<std::string> stores;
  auto there = disk_.exists(system_file(label));
  if (there && *there) stores.emplace_back("the system");
  for (const std::string& store : browser_stores()) {
    auto found = run({"certutil", "-L", "-d", "sql:" + store, "-n", label});
    if (found && found->good()) stores.push_back(store);
  }
  return stores;
}

}  // namespace sluice::cli
