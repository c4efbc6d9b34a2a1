import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** A click within this time after a row moved was meant for what was there before. */
export const SETTLE_MS = 400;

interface RowsProps<T> {
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly label: string;
  readonly children: (item: T) => ComponentChildren;
  readonly class?: string;
}

/**
 * A keyed list: rows keep their elements, so focus, selection and clicks survive updates. A row that has just moved, or
 * appeared in another row's place, ignores clicks for 400 ms.
 */
export function Rows<T>({ items, keyOf, label, children, class: name = '' }: RowsProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  const places = useRef(new Map<string, number>());
  const movedAt = useRef(new Map<string, number>());
  useLayoutEffect(() => {
    const rows = [...(list.current?.children ?? [])].filter((row) => row instanceof HTMLElement);
    const next = new Map(rows.map((row) => [row.dataset['key'] ?? '', row.offsetTop]));
    const isFirst = places.current.size === 0;
    for (const [key, top] of next)
      if (!isFirst && places.current.get(key) !== top) movedAt.current.set(key, performance.now());
    for (const key of movedAt.current.keys()) if (!next.has(key)) movedAt.current.delete(key);
    places.current = next;
  });
  const guard = (event: Event): void => {
    const row = event.target instanceof Element ? event.target.closest('[data-key]') : null;
    const moved = row instanceof HTMLElement ? movedAt.current.get(row.dataset['key'] ?? '') : undefined;
    if (moved === undefined || performance.now() - moved >= SETTLE_MS) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ul ref={list} class={`rows ${name}`} aria-label={label} onClickCapture={guard}>
      {items.map((item) => (
        <li key={keyOf(item)} data-key={keyOf(item)} data-row="">
          {children(item)}
        </li>
      ))}
    </ul>
  );
}
