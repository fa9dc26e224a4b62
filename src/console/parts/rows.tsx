// A list of any length: only the rows that are in sight are in the page.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

const kOver = 8;

export function Rows<Item>({ items, height = 44, most = 640, children, label }: {
  items: Item[]; height?: number; most?: number; children: (item: Item, index: number) => ComponentChildren; label: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const shown = Math.min(most, items.length * height);
  useEffect(() => {
    if (box.current && box.current.scrollTop > items.length * height) box.current.scrollTop = 0;
  }, [items.length]);
  const first = Math.max(0, Math.floor(top / height) - kOver);
  const last = Math.min(items.length, Math.ceil((top + shown) / height) + kOver);
  return (
    <div class="virtual" ref={box} style={{ height: `${shown}px` }} onScroll={(event) => setTop(event.currentTarget.scrollTop)} role="list" aria-label={label} tabIndex={items.length * height > most ? 0 : undefined}>
      <div style={{ height: `${first * height}px` }} />
      {items.slice(first, last).map((item, i) => children(item, first + i))}
      <div style={{ height: `${(items.length - last) * height}px` }} />
    </div>
  );
}
