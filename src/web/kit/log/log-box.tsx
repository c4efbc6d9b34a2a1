import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type LogMatch, markSpans } from '../../model/log/find-in-log.ts';
import { type LogAnchor, LogRows } from '../../model/log/log-rows.ts';
import type { LogChunk } from '../../model/log/log-window.ts';

interface LogBoxProps {
  readonly chunks: readonly LogChunk[];
  readonly isFollowing: boolean;
  readonly setFollowing: (isFollowing: boolean) => void;
  /** Called when the reader is near the first loaded line. */
  readonly loadOlder: () => void;
  readonly matches: readonly LogMatch[];
  /** The match to scroll to when it changes. */
  readonly current: LogMatch | undefined;
}

const ROW = 20;
/** Rows beyond the edge of the screen, so that a fast scroll shows no gap. */
const OVERSCAN = 20;
/** Older lines are loaded when fewer than this are left above. */
const NEAR_START_PX = 400;

/**
 * Renders only the rows of a log that are on the screen. While it follows, it stays at the end, otherwise at the same
 * line.
 */
export function LogBox({ chunks, isFollowing, setFollowing, loadOlder, matches, current }: LogBoxProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400, columns: 80 });
  const rows = useMemo(() => new LogRows(chunks, view.columns), [chunks, view.columns]);
  const lastTop = useRef(0);
  const anchor = useRef<LogAnchor | undefined>(undefined);
  const byLine = useMemo(() => Map.groupBy(matches, ({ line }) => line), [matches]);

  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    const { scrollTop: top, clientHeight: height } = element;
    setView({ top, height, columns: columnsOf(element) });
  };
  const scrolled = (): void => {
    const element = box.current;
    if (element === null) return;
    anchor.current = rows.anchorAt(Math.floor(element.scrollTop / ROW));
    const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - ROW / 2;
    // The box may also have shrunk, or the log grown; only scrolling up means that the reader wants to stay.
    if (isAtEnd) setFollowing(true);
    else if (element.scrollTop < lastTop.current) setFollowing(false);
    lastTop.current = element.scrollTop;
    if (element.scrollTop < NEAR_START_PX) loadOlder();
    look();
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const kept = anchor.current === undefined ? undefined : rows.rowOfAnchor(anchor.current);
    if (isFollowing) element.scrollTop = element.scrollHeight;
    else if (kept !== undefined) element.scrollTop = kept * ROW + (element.scrollTop % ROW);
    look();
  }, [rows, isFollowing, view.height]);
  useLayoutEffect(() => {
    if (current === undefined || box.current === null) return;
    box.current.scrollTop = rows.rowOf(current.line, current.from) * ROW - box.current.clientHeight / 2;
  }, [current]);

  const from = Math.max(0, Math.floor(view.top / ROW) - OVERSCAN);
  const to = Math.min(rows.count, Math.ceil((view.top + view.height) / ROW) + OVERSCAN);
  return (
    <div ref={box} class="log-box" tabIndex={0} role="region" aria-label="Log" onScroll={scrolled}>
      <span class="log-measure" aria-hidden="true">
        {'0'.repeat(MEASURED)}
      </span>
      <div class="log-all" style={{ height: `${rows.count * ROW}px` }}>
        {Array.from({ length: Math.max(0, to - from) }, (_, i) => (
          <Row key={from + i} rows={rows} index={from + i} byLine={byLine} current={current} />
        ))}
      </div>
    </div>
  );
}

const MEASURED = 100;

/** The number of characters that fit into a line. */
function columnsOf(element: HTMLElement): number {
  const measured = element.querySelector('.log-measure')?.getBoundingClientRect().width ?? 0;
  const padding = 2 * 12;
  return measured === 0 ? 80 : Math.max(20, Math.floor(((element.clientWidth - padding) * MEASURED) / measured));
}

interface RowProps {
  readonly rows: LogRows;
  readonly index: number;
  readonly byLine: ReadonlyMap<number, readonly LogMatch[]>;
  readonly current: LogMatch | undefined;
}

function Row({ rows, index, byLine, current }: RowProps) {
  const { line, from, spans } = rows.row(index);
  return (
    <div class="log-row" data-line={line} style={{ transform: `translateY(${index * ROW}px)` }}>
      {markSpans(spans, from, byLine.get(line) ?? []).map(({ text, classes, match }, i) =>
        match === undefined ? (
          classes === '' ? (
            text
          ) : (
            <span key={i} class={classes}>
              {text}
            </span>
          )
        ) : (
          <mark key={i} class={match === current ? `${classes} current` : classes}>
            {text}
          </mark>
        ),
      )}
    </div>
  );
}
