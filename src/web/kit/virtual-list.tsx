import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SETTLE_MS } from './rows.tsx';

interface VirtualListProps {
  readonly count: number;
  /** The height of every row. */
  readonly rowHeight?: number;
  readonly label: string;
  /** Undefined if the row is not loaded yet. */
  readonly keyOf: (index: number) => string | undefined;
  /** Called with the rows on the screen, so that only those are loaded. */
  readonly onRange?: (from: number, to: number) => void;
  /** The row that is scrolled into view whenever it changes. */
  readonly selected?: number;
  readonly children: (index: number) => ComponentChildren;
}

/** Rows beyond the edge of the screen, so that a fast scroll shows no gap. */
const OVERSCAN = 12;

/** A list of any length; the document contains only the rows on the screen. */
export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight = 32, label, keyOf, onRange, selected, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  const from = Math.max(0, Math.floor(view.top / rowHeight) - OVERSCAN);
  const to = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN);
  useLayoutEffect(() => onRange?.(from, to), [from, to]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || selected === undefined || selected < 0) return;
    const [top, bottom] = [selected * rowHeight, (selected + 1) * rowHeight];
    if (top < element.scrollTop) element.scrollTop = top;
    if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  }, [selected]);
  const guard = useSettledRows(from, to, keyOf);
  const rows = [];
  for (let index = from; index < to; index += 1) {
    rows.push(
      <div
        key={keyOf(index) ?? `row ${index}`}
        data-index={index}
        role="listitem"
        aria-setsize={count}
        aria-posinset={index + 1}
        class="virtual-row"
        data-row=""
        style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
      >
        {children(index)}
      </div>,
    );
  }
  return (
    <div ref={box} class="virtual" tabIndex={0} role="region" aria-label={label} onClickCapture={guard}>
      <div role="list" aria-label={label} class="virtual-all" style={{ height: `${count * rowHeight}px` }}>
        {rows}
      </div>
    </div>
  );
}

/**
 * Returns a guard that ignores clicks on a row that has just replaced another one, because the click was meant for that
 * one.
 */
function useSettledRows(from: number, to: number, keyOf: VirtualListProps['keyOf']): (event: Event) => void {
  const keys = useRef(new Map<number, string | undefined>());
  const movedAt = useRef(new Map<number, number>());
  useLayoutEffect(() => {
    const next = new Map<number, string | undefined>();
    const moved = new Map<number, number>();
    for (let index = from; index < to; index += 1) {
      const [before, key] = [keys.current.get(index), keyOf(index)];
      next.set(index, key);
      const at = before !== undefined && before !== key ? performance.now() : movedAt.current.get(index);
      if (at !== undefined) moved.set(index, at);
    }
    keys.current = next;
    movedAt.current = moved;
  });
  return (event) => {
    const row = event.target instanceof Element ? event.target.closest('[data-index]') : null;
    const at = row instanceof HTMLElement ? movedAt.current.get(Number(row.dataset['index'])) : undefined;
    if (at === undefined || performance.now() - at >= SETTLE_MS) return;
    event.preventDefault();
    event.stopPropagation();
  };
}
