// The nodes of a mesh and their links, drawn around the node that has the most of them: each ring is a hop further away.
import { useMemo } from "preact/hooks";
import type { Document } from "../api/client";
import { State } from "./state";
import type { Kind } from "./state";
import { middle, visible } from "./text";

type Node = Document<"mesh">[number];
type Map_ = Document<"mesh-map">;

export const nodeKind = (node: Node): Kind =>
  ({ current: "ok", behind: "wait", unconfirmed: "run", rejected: "bad", unseen: "idle", revoked: "archived" } as Record<string, Kind>)[node.state] ?? "idle";
export const nodeWord = (state: string): string =>
  ({ current: "Current", behind: "Behind", unconfirmed: "Unconfirmed", rejected: "Rejected", unseen: "Never seen", revoked: "Revoked" } as Record<string, string>)[state] ?? state;
const nodeClass: Partial<Record<Kind, string>> = { ok: "ok", wait: "wait", run: "run", bad: "bad", archived: "skipped" };

const kWide = 128;
const kHigh = 48;
const kRing = 130;
// More are not drawn: nobody could read them.
const kMost = 80;

interface Place {
  x: number;
  y: number;
}

// Each node gets a slice of the circle that is as wide as what hangs on it.
function placed(names: string[], links: Map_["links"]): { at: Map<string, Place>; width: number; height: number } {
  const near = new Map(names.map((each) => [each, new Set<string>()]));
  for (const { a, b } of links) {
    if (a.node === b.node) continue;
    near.get(a.node)?.add(b.node);
    near.get(b.node)?.add(a.node);
  }
  const left = [...names].sort((a, b) => near.get(b)!.size - near.get(a)!.size || a.localeCompare(b));
  const parts: Map<string, Place>[] = [];
  const seen = new Set<string>();
  for (const root of left) {
    if (seen.has(root)) continue;
    // A tree of shortest ways, then the slices.
    const children = new Map<string, string[]>();
    const order = [root];
    seen.add(root);
    for (let i = 0; i < order.length; i++) {
      const mine = [...near.get(order[i]!)!].filter((each) => near.has(each) && !seen.has(each)).sort();
      for (const each of mine) seen.add(each);
      children.set(order[i]!, mine);
      order.push(...mine);
    }
    const weight = new Map<string, number>();
    for (const each of [...order].reverse()) weight.set(each, Math.max(1, children.get(each)!.reduce((sum, child) => sum + weight.get(child)!, 0)));
    const at = new Map<string, Place>();
    const put = (name: string, depth: number, from: number, to: number, ring: number) => {
      const middle = (from + to) / 2;
      at.set(name, { x: Math.cos(middle) * depth * ring * 1.5, y: Math.sin(middle) * depth * ring });
      let begin = from;
      for (const child of children.get(name)!) {
        const share = ((to - from) * weight.get(child)!) / weight.get(name)!;
        put(child, depth + 1, begin, begin + share, ring);
        begin += share;
      }
    };
    const around = children.get(root)!.length;
    put(root, 0, -Math.PI / 2 - Math.PI / Math.max(1, around) + Math.PI / 2, Math.PI * 2 - Math.PI / Math.max(1, around), Math.max(kRing, (weight.get(root)! * (kHigh + 24)) / (2 * Math.PI)));
    parts.push(at);
  }
  const at = new Map<string, Place>();
  let x = 0;
  let height = 0;
  for (const part of parts) {
    const xs = [...part.values()].map((each) => each.x);
    const ys = [...part.values()].map((each) => each.y);
    const [minX, minY] = [Math.min(...xs), Math.min(...ys)];
    for (const [name, place] of part) at.set(name, { x: x + place.x - minX + kWide / 2 + 16, y: place.y - minY + kHigh / 2 + 20 });
    x += Math.max(...xs) - minX + kWide + 32;
    height = Math.max(height, Math.max(...ys) - minY + kHigh + 40);
  }
  return { at, width: x, height };
}

export function MeshGraph({ nodes, links, ways, chosen, onChoose }: { nodes: Node[]; links: Map_["links"]; ways: Map_["ways"]; chosen: string | undefined; onChoose: (node: string) => void }) {
  const names = nodes.map((each) => each.node);
  const { at, width, height } = useMemo(() => placed(names, links), [names.join(), links]);
  if (nodes.length > kMost) return <p class="empty">{nodes.length} nodes are too many to draw; the table below has all of them.</p>;
  // The links of the first way, there: from each hop's node to the next.
  const way = ways[0];
  const onWay = new Map<string, number>();
  const stations = way ? [...way.there.map((each) => each.node), way.to] : [];
  stations.forEach((node, i) => { const next = stations[i + 1]; if (next) onWay.set([node, next].sort().join(" "), i + 1); });
  const between = new Map<string, { a: string; b: string; links: Map_["links"] }>();
  for (const link of links) {
    const key = [link.a.node, link.b.node].sort().join(" ");
    const known = between.get(key);
    if (known) known.links.push(link);
    else between.set(key, { a: link.a.node, b: link.b.node, links: [link] });
  }
  return (
    <div class="graph mesh-graph" tabIndex={0} role="group" aria-label="The mesh as a graph">
      <svg width={Math.max(width, 300)} height={height} viewBox={`0 0 ${Math.max(width, 300)} ${height}`}>
        {[...between].map(([key, each]) => {
          const [a, b] = [at.get(each.a), at.get(each.b)];
          if (!a || !b) return null;
          const step = onWay.get(key);
          return (
            <g key={key}>
              <title>{each.links.map((link) => `${link.a.node}/${link.a.vertex} ${link.a.link} – ${link.b.node}${link.b.vertex ? `/${link.b.vertex} ${link.b.link}` : ""}`).join("\n")}</title>
              <line class={`edge ${step ? "long done" : "done"}`} x1={a.x} y1={a.y} x2={b.x} y2={b.y} />
              {each.links.length > 1 && !step && <text class="kind" x={(a.x + b.x) / 2 + 4} y={(a.y + b.y) / 2 - 4}>{each.links.length} links</text>}
              {step && <g transform={`translate(${(a.x + b.x) / 2} ${(a.y + b.y) / 2})`}><circle class="hop" r="9" /><text class="hop-number" text-anchor="middle" y="4">{step}</text></g>}
            </g>
          );
        })}
        {nodes.map((node) => {
          const p = at.get(node.node)!;
          const kind = nodeKind(node);
          return (
            <g key={node.node} class={`node ${nodeClass[kind] ?? ""} ${node.node === chosen ? "chosen" : ""}`} transform={`translate(${p.x - kWide / 2} ${p.y - kHigh / 2})`} tabIndex={0} role="button" aria-pressed={node.node === chosen} aria-label={`${visible(node.node)}, ${nodeWord(node.state)}, version ${node.version}`} onClick={() => onChoose(node.node)} onKeyDown={(event) => event.key === "Enter" && onChoose(node.node)}>
              <rect width={kWide} height={kHigh} rx="8" />
              <g transform="translate(10 9)"><State kind={kind} /></g>
              <text x="30" y="20">{middle(visible(node.node), 13)}</text>
              <text class="kind" x="30" y="36">{node.reported_version !== null && node.reported_version !== node.version ? `${node.reported_version} of ${node.version}` : `version ${node.version}`}</text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}
