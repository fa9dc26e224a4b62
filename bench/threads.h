// CPU time by thread, which other processes on the machine disturb less than time that passed.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace sluice::bench {

// Seconds that the living threads of this process have computed, by name.
inline std::map<std::string, double> thread_cpu_s() {
  std::map<std::string, double> used;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    double ns = 0;
    std::getline(std::ifstream(thread.path() / "comm") >> std::ws, name);
    std::ifstream(thread.path() / "schedstat") >> ns;
    used[name] += ns / 1e9;
  }
  return used;
}

}  // namespace sluice::bench
