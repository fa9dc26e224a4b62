// Charts: all revisions on one scale, zero at the bottom, the value and mark at the line's end instead of a legend. A gap
// is hatched, never joined, never zero. One cursor for all charts of a page; its readout stands in the title line.
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isDark } from "../app/theme";
import { Mark } from "./state";
import type { RevisionMark } from "./state";
import { clock, num } from "./text";

export interface Line {
  label: string;
  mark: RevisionMark;
  values: (number | null)[];
  // An interval around the line, of the same length as the values.
  band?: ([number, number] | null)[];
}

export interface StepMark {
  at: number; // seconds
  label: string;
  planned?: boolean;
}

export interface ChartProps {
  title: string;
  unit: string;
  // After the value at the line's end.
  suffix: string;
  from: number;
  step: number;
  lines: Line[];
  marks?: StepMark[];
  limit?: { value: number; label: string };
  height?: number;
  until?: number;
  bare?: boolean;
  most?: number;
  labelMarks?: boolean;
}

// Narrower charts have their values in the title instead of at the lines' ends.
const kNarrow = 420;

// Where the cursor is, in seconds; all charts follow it.
const cursorAt = signal<number | null>(null);
// The stretch that was dragged over.
const zoom = signal<[number, number] | null>(null);
addEventListener("keydown", (event) => {
  if (event.key === "Escape") zoom.value = null;
});

// Colours as the canvas needs them: the tokens, resolved for the theme that is shown.
function color(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

function niceMax(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (step * power >= value) return step * power;
  return 10 * power;
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [width, setWidth] = useState(0);
  const latest = useRef(props);
  latest.current = props;
  const dark = isDark();
  const { from, step, lines, height = 170 } = props;
  const times = useMemo(() => {
    const length = Math.max(0, ...lines.map((line) => line.values.length));
    return Array.from({ length }, (_, i) => from + i * step);
  }, [from, step, lines]);
  const shape = lines.map((line) => line.mark).join();
  const any = lines.some((line) => line.values.some((value) => value !== null));
  const fits = width >= 60;
  const small = width < kNarrow;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth) - 16));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth) - 16);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = box.current;
    if (!element || !fits || !any) return;
    const axis = color("text-3");
    const grid = color("line");
    const mine = (mark: RevisionMark) => color(mark);
    const font = `11px ${getComputedStyle(document.body).fontFamily}`;
    const made = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        padding: [18, small ? 8 : 62, 0, 0],
        cursor: {
          sync: { key: "sluice" },
          y: false,
          points: { size: 7 },
          drag: { x: true, y: false, setScale: false },
        },
        scales: {
          x: { time: true, range: (_, min, max) => zoom.value ?? [min, Math.max(max, latest.current.until ?? max)] },
          y: { range: (_, __, max) => [0, latest.current.most ?? niceMax(Math.max(max ?? 0, highest(latest.current), 0) * 1.12)] },
        },
        axes: [
          { stroke: axis, font, grid: { show: false }, ticks: { show: false }, size: 24, gap: 4, space: 70, values: (_, all) => all.map((at) => clock(at * 1000, step < 5)) },
          { stroke: axis, font, grid: { stroke: grid, width: 1 }, ticks: { show: false }, size: 44, gap: 6, space: 34, values: (_, all) => all.map((value) => num(value)) },
        ],
        series: [
          {},
          ...latest.current.lines.map((line) => ({ stroke: mine(line.mark), width: line.mark === "new" ? 1.75 : 1.5, points: { show: false }, spanGaps: false })),
        ],
        hooks: {
          drawClear: [(u: uPlot) => { drawFuture(u, latest.current, color("sunken")); drawGaps(u, latest.current, color("line-2")); drawBands(u, latest.current); }],
          draw: [(u: uPlot) => { drawMarks(u, latest.current, color("line-2"), color("text-2"), font); drawLimit(u, latest.current, color("bad-solid"), color("bad"), font); if (!small) drawEnds(u, latest.current, font); }],
          setCursor: [(u: uPlot) => { const i = u.cursor.idx; cursorAt.value = i == null || (u.cursor.left ?? -1) < 0 ? null : (u.data[0][i] ?? null); }],
          setSelect: [(u: uPlot) => {
            if (u.select.width < 10) return;
            zoom.value = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }],
        },
      },
      [times, ...lines.map((line) => line.values)] as uPlot.AlignedData,
      element,
    );
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [fits, small, height, shape, dark, any]);

  useEffect(() => {
    if (fits && plot.current && plot.current.width !== width) plot.current.setSize({ width, height });
  }, [width, height]);

  useEffect(() => {
    plot.current?.setData([times, ...lines.map((line) => line.values)] as uPlot.AlignedData);
  }, [times, lines, zoom.value, props.most]);

  const index = cursorAt.value === null ? -1 : Math.round((cursorAt.value - from) / step);
  const last = (line: Line) => [...line.values].reverse().find((value) => value !== null) ?? null;
  const summary = `${props.title}, ${props.unit}. ` + lines.map((line) => `${line.label}: now ${last(line) === null ? "nothing" : num(last(line)!) + props.suffix}`).join("; ");
  return (
    <div>
      <div class="chart-title">
        <strong>{props.title}</strong><span class="note">{props.unit}</span>
        <span class="readout">
          {index >= 0 && <span class="dim">{clock(cursorAt.value! * 1000, true)}</span>}
          {(index >= 0 || small) && lines.map((line) => (
            <span key={line.label} class={`legend text-${line.mark}`}>
              <Mark as={line.mark} />
              {(() => { const value = index >= 0 ? line.values[index] ?? null : last(line); return value === null ? "–" : num(value) + props.suffix; })()}
            </span>
          ))}
        </span>
      </div>
      {any ? null : <div class="chart-empty" style={{ height: `${height}px` }}>No requests in this time. A router counts them from the first one on.</div>}
      <div class="chart" ref={box} role="img" aria-label={summary} hidden={!any} style={{ minHeight: `${height + 12}px` }} />
    </div>
  );
}

// Bands count for the scale, but what little evidence at the beginning allows for does not.
function highest(props: ChartProps): number {
  const tops = props.lines.flatMap((line) => (line.band ?? []).flatMap((each) => (each ? [each[1]] : []))).sort((a, b) => a - b);
  return tops[Math.floor(tops.length * 0.8)] ?? 0;
}

function drawBands(u: uPlot, props: ChartProps): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const line of props.lines) {
    if (!line.band) continue;
    ctx.fillStyle = color(line.mark);
    ctx.globalAlpha = line.mark === "new" ? 0.18 : 0.14;
    // No further than the line.
    let end = line.values.length - 1;
    while (end >= 0 && line.values[end] == null) end--;
    for (let i = 0; i + 1 <= end; i++) {
      const [here, next] = [line.band[i], line.band[i + 1]];
      if (!here || !next) continue;
      const at = (k: number, value: number): [number, number] => [u.valToPos(u.data[0][k]!, "x", true), u.valToPos(value, "y", true)];
      ctx.beginPath();
      ctx.moveTo(...at(i, here[0]));
      ctx.lineTo(...at(i + 1, next[0]));
      ctx.lineTo(...at(i + 1, next[1]));
      ctx.lineTo(...at(i, here[1]));
      ctx.fill();
    }
  }
  ctx.restore();
}

// What has not come yet is shaded.
function drawFuture(u: uPlot, props: ChartProps, fill: string): void {
  const { ctx, bbox } = u;
  const last = u.data[0][u.data[0].length - 1];
  if (props.until === undefined || last === undefined) return;
  const left = Math.max(bbox.left, u.valToPos(last, "x", true));
  const right = Math.min(bbox.left + bbox.width, u.valToPos(props.until, "x", true));
  if (right <= left) return;
  ctx.save();
  ctx.fillStyle = fill;
  ctx.fillRect(left, bbox.top, right - left, bbox.height);
  ctx.restore();
}

function drawGaps(u: uPlot, props: ChartProps, stroke: string): void {
  const { ctx, bbox } = u;
  let gap: number | null = null;
  const begun = Math.min(...props.lines.map((line) => { const i = line.values.findIndex((value) => value !== null); return i < 0 ? Infinity : i; }));
  const length = u.data[0].length;
  for (let i = begun; i <= length; i++) {
    const empty = i < length && props.lines.every((line) => line.values[i] == null);
    if (empty && gap === null) gap = i;
    if (!empty && gap !== null) {
      if (i - gap > 1 && i < length) hatch(ctx, u.valToPos(u.data[0][gap]!, "x", true), u.valToPos(u.data[0][i]!, "x", true), bbox, stroke);
      gap = null;
    }
  }
}

function hatch(ctx: CanvasRenderingContext2D, left: number, right: number, bbox: uPlot.BBox, stroke: string): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, right - left, bbox.height);
  ctx.clip();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let x = left - bbox.height; x < right; x += 7 * devicePixelRatio) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}

function drawMarks(u: uPlot, props: ChartProps, stroke: string, text: string, font: string): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.font = scaled(font);
  ctx.textAlign = "left";
  let free = -Infinity;
  const labels: [number, string][] = [];
  for (const mark of props.marks ?? []) {
    const x = Math.round(u.valToPos(mark.at, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = stroke;
    ctx.setLineDash(mark.planned ? [2 * devicePixelRatio, 3 * devicePixelRatio] : []);
    ctx.beginPath();
    ctx.moveTo(x + 0.5, bbox.top - 12 * devicePixelRatio);
    ctx.lineTo(x + 0.5, bbox.top + bbox.height);
    ctx.stroke();
    if (props.labelMarks === false || x < free) continue;
    labels.push([x + 4 * devicePixelRatio, mark.label]);
    free = x + ctx.measureText(mark.label).width + 12 * devicePixelRatio;
  }
  // Over the lines of marks that come soon after.
  ctx.setLineDash([]);
  ctx.lineWidth = 4 * devicePixelRatio;
  ctx.lineJoin = "round";
  ctx.strokeStyle = color("surface");
  ctx.fillStyle = text;
  for (const [x, label] of labels) {
    ctx.strokeText(label, x, bbox.top - 4 * devicePixelRatio);
    ctx.fillText(label, x, bbox.top - 4 * devicePixelRatio);
  }
  ctx.restore();
}

function drawLimit(u: uPlot, props: ChartProps, stroke: string, text: string, font: string): void {
  if (!props.limit) return;
  const { ctx, bbox } = u;
  const y = Math.max(bbox.top, u.valToPos(props.limit.value, "y", true));
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.fillStyle = text;
  ctx.font = scaled(font);
  ctx.textAlign = "left";
  ctx.fillText(props.limit.label, bbox.left + bbox.width + 6 * devicePixelRatio, y + 4 * devicePixelRatio);
  ctx.restore();
}

const scaled = (font: string) => font.replace(/^(\d+)px/, (_, size: string) => `${Number(size) * devicePixelRatio}px`);

// The value and mark at the line's end, apart from each other even where the lines are not.
function drawEnds(u: uPlot, props: ChartProps, font: string): void {
  const { ctx, bbox } = u;
  const ends = props.lines
    .map((line) => {
      let i = line.values.length - 1;
      while (i >= 0 && line.values[i] == null) i--;
      return { line, i };
    })
    .filter(({ i, line }) => i >= 0 && i >= line.values.length - 4)
    .map(({ line, i }) => ({ line, x: u.valToPos(u.data[0][i]!, "x", true), y: u.valToPos(line.values[i]!, "y", true), text: num(line.values[i]!) + props.suffix }))
    .sort((a, b) => a.y - b.y);
  const apart = 13 * devicePixelRatio;
  // Downwards from each other, then up again from the axis, whose times stand below it.
  const places = ends.map((end) => end.y);
  for (let i = 1; i < places.length; i++) places[i] = Math.max(places[i]!, places[i - 1]! + apart);
  for (let i = places.length - 1, most = bbox.top + bbox.height - 4 * devicePixelRatio; i >= 0; most = places[i]! - apart, i--) places[i] = Math.min(places[i]!, most);
  ctx.save();
  ctx.font = scaled(`600 ${font}`.replace("600 ", "")).replace(/^/, "600 ");
  ctx.textAlign = "left";
  for (const [i, end] of ends.entries()) {
    const size = 3.5 * devicePixelRatio;
    ctx.fillStyle = color(end.line.mark);
    ctx.beginPath();
    if (end.line.mark === "new") ctx.rect(end.x - size, end.y - size, 2 * size, 2 * size);
    else ctx.arc(end.x, end.y, size, 0, 7);
    ctx.fill();
    ctx.fillStyle = color(`${end.line.mark}-text`);
    ctx.fillText(end.text, bbox.left + bbox.width + 10 * devicePixelRatio, places[i]! + 4 * devicePixelRatio);
  }
  ctx.restore();
}

// A small line without axes, for cards.
export function Spark({ values, label }: { values: (number | null)[]; label: string }) {
  const begun = values.findIndex((value) => value !== null);
  if (begun < 0) return null;
  const kept = values.slice(begun).map((value) => value ?? 0);
  const top = Math.max(1e-9, ...kept) * 1.15;
  const at = (value: number, i: number) => `${((i / Math.max(1, kept.length - 1)) * 96).toFixed(1)},${(32 - (value / top) * 30).toFixed(1)}`;
  const points = kept.map(at).join(" ");
  return (
    <svg class="spark" width="96" height="32" viewBox="0 0 96 32" role="img" aria-label={label}>
      <polygon points={`0,32 ${points} 96,32`} fill="var(--sunken)" />
      <polyline points={points} fill="none" stroke="var(--text-3)" stroke-width="1.2" />
    </svg>
  );
}
