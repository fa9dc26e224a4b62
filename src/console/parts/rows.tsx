// A list of any length: only the rows that are in sight are in the page, and only those near them are asked for.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

const kOver = 8;

export function Rows({ count, height = 44, most = 640, children, onSight, label }: {
  count: number; height?: number; most?: number; children: (index: number) => ComponentChildren;
  // Told when other rows come into sight.
  onSight?: (first: number, last: number) => void; label: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const shown = Math.min(most, count * height);
  useEffect(() => {
    if (box.current && box.current.scrollTop > count * height) box.current.scrollTop = 0;
  }, [count]);
  const first = Math.max(0, Math.floor(top / height) - kOver);
  const last = Math.min(count, Math.ceil((top + shown) / height) + kOver);
  useEffect(() => onSight?.(first, last), [first, last]);
  return (
    <div class="virtual" ref={box} style={{ height: `${shown}px` }} onScroll={(event) => setTop(event.currentTarget.scrollTop)} role="list" aria-label={label} tabIndex={count * height > most ? 0 : undefined}>
      <div style={{ height: `${first * height}px` }} />
      {Array.from({ length: Math.max(0, last - first) }, (_, i) => children(first + i))}
      <div style={{ height: `${(count - last) * height}px` }} />
    </div>
  );
}
