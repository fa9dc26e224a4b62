-- The load: requests of a hundred visitors in turn, each with its cookies, which stand one a line in the file that the
-- first argument names. The last line of the output is for the bench: requests, failures, p50 and p99 in microseconds.
local requests, turn = {}, 0

function init(args)
  for cookie in io.lines(args[1]) do
    local headers = {Host = "app.example", Accept = "*/*", ["User-Agent"] = "wrk"}
    if #cookie > 0 then headers.Cookie = cookie end
    requests[#requests + 1] = wrk.format("GET", "/index.html", headers)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format("\nresult %d %d %d %d\n", summary.requests, e.connect + e.read + e.write + e.status + e.timeout,
                         latency:percentile(50), latency:percentile(99)))
end
