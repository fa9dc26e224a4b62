// Naive applications: what a proxy makes of an answer in two writes, and of a body behind an answer that has none.
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>

#include "base/testing_wait.h"
#include "bench/router_proxies.h"
#include "bench/router_servers.h"

namespace sluice::bench {
namespace {

constexpr int kGets = 1'600;
const std::string kUnruly = "tests/router/unruly.py";

struct Named {
  std::string name;
  std::unique_ptr<Proxy> proxy;
};

std::vector<Named> all_before(ProxyStage& stage, const crypto::PrivateKey& key, const std::string& upstream) {
  std::vector<Named> all;
  all.push_back({"HAProxy", stage.peer("haproxy.cfg", {"haproxy", "-db", "-f"}, {upstream, upstream})});
  all.push_back({"nginx", stage.peer("nginx.conf", {"nginx", "-c"}, {upstream, upstream})});
  all.push_back({"router", stage.router(key, {upstream, upstream})});
  std::erase_if(all, [](const Named& each) { return each.proxy == nullptr; });
  return all;
}

// One visitor at a time: the acknowledgement of the first piece is what the second one waits for.
void measure_two_writes(Report& report, ProxyStage& stage, const crypto::PrivateKey& key,
                        const std::string& strangers_file) {
  std::string upstream = "127.0.0.1:" + std::to_string(free_port());
  std::vector<int> listeners = listeners_at({upstream});
  Child application = Child::of_function(kOtherCore, [&] { answer_in_two_writes(listeners[0]); });
  for (const Named& each : all_before(stage, key, upstream)) {
    double p50_ms = load(each.proxy->port, strangers_file, 2, 1).p50_us / 1000;
    std::string what = each.name + ": an answer in two writes, p50";
    if (each.name == "router") {
      report.at_most(what, p50_ms, 5, "ms");
    } else {
      report.note(what, p50_ms, "ms");
    }
  }
}

// Sixteen visitors and four attackers, whose HEAD is answered with a body that looks like an answer.
double wrong_answers(int port) {
  std::string command = "taskset -c " + std::to_string(kOtherCore) + " python3 " + kUnruly + " load " +
                        std::to_string(port) + " " + std::to_string(kGets);
  std::FILE* out = ::popen(command.c_str(), "r");
  must(out != nullptr, "cannot start the load");
  char line[512] = "";
  bool came = std::fgets(line, sizeof line, out) != nullptr;
  must(::pclose(out) == 0 && came, "the load has failed");
  boost::json::value counts = boost::json::parse(line);
  return static_cast<double>(counts.at("chosen").as_int64() + counts.at("others").as_int64());
}

void measure_bodies_of_head(Report& report, ProxyStage& stage, const crypto::PrivateKey& key) {
  std::string log = stage.path("unruly.log");
  Child application = Child::of_program(kOtherCore, {"python3", kUnruly, "app", "head"}, log);
  must(eventually([&] { return text_of(log).find('\n') != std::string::npos; }), "the application does not start");
  std::string upstream = "127.0.0.1:" + std::to_string(std::atoi(text_of(log).c_str()));
  for (const Named& each : all_before(stage, key, upstream)) {
    std::string what = each.name + ": answers of another request, of 1,600, where HEAD has a body";
    if (each.name == "router") {
      report.at_most(what, wrong_answers(each.proxy->port), 0, "");
    } else {
      report.note(what, wrong_answers(each.proxy->port), "");
    }
  }
}

}  // namespace

void measure_applications(Report& report, ProxyStage& stage, const crypto::PrivateKey& key,
                          const std::string& strangers_file) {
  measure_two_writes(report, stage, key, strangers_file);
  measure_bodies_of_head(report, stage, key);
}

}  // namespace sluice::bench
