// Reads an OTLP message in JSON from stdin and says whether the official definitions have it: every member must survive
// the way through protobuf's bytes and back. Its argument is logs, trace or metrics.
const root = require('@opentelemetry/otlp-transformer/build/src/generated/root.js');
const kinds = {
  logs: 'ExportLogsServiceRequest', trace: 'ExportTraceServiceRequest', metrics: 'ExportMetricsServiceRequest',
};
const kind = process.argv[2];
const Message = root.opentelemetry.proto.collector[kind].v1[kinds[kind]];
const text = require('fs').readFileSync(0, 'utf8');
const given = JSON.parse(text);
const digits = { traceId: 32, spanId: 16, parentSpanId: 16 };

// Ids are hex digits in OTLP's JSON, and bytes for protobuf.
function checkIds(value) {
  for (const [name, each] of Object.entries(value)) {
    if (digits[name] && !new RegExp(`^[0-9a-f]{${digits[name]}}$`).test(each)) throw new Error(`${name}: ${each}`);
    if (digits[name]) delete value[name];
    else if (typeof each === 'object' && each !== null) checkIds(each);
  }
}

checkIds(given);
const fault = Message.verify(Message.fromObject(given));
if (fault) throw new Error(fault);
const kept = Message.toObject(Message.decode(Message.encode(Message.fromObject(given)).finish()), { longs: String });

function lost(one, other, path) {
  if (typeof one !== 'object' || one === null) return String(one) === String(other) ? [] : [path];
  if (typeof other !== 'object' || other === null) return [path];
  return Object.keys(one).flatMap((name) => lost(one[name], other[name], `${path}/${name}`));
}

const missing = lost(given, kept, '');
if (missing.length > 0) throw new Error(`the definitions do not have ${missing.join(', ')}`);
console.log('valid');
