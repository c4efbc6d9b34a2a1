import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { call, standing } from '../../app/hub-client.ts';
import { hrefTo, route } from '../../app/router.ts';
import { Empty, Show } from '../../kit/loading.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { useRetry } from '../../kit/use-retry.ts';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { Words } from '../../kit/words.tsx';
import { describeData, shortActor, type ShownEntry, subjectsOf } from '../../model/ledger/describe-entry.ts';
import { EntryPages, PAGE_ENTRIES } from './entry-pages.ts';
import { type Filter, isFiltered, toFilterInput } from './filter.ts';
import { FoundEntries } from './found-entries.ts';
import { rowTime } from './ledger-head.tsx';
import { useReader } from './reader.ts';

interface ListProps {
  readonly filter: Filter;
  readonly head: number;
  readonly chosen: number | undefined;
  /** The number of the entry at which the chain is broken. */
  readonly broken: number | undefined;
}

export function EntryList(props: ListProps) {
  return isFiltered(props.filter) ? <Found key={JSON.stringify(props.filter)} {...props} /> : <All {...props} />;
}

/** All entries, newest first: the index of a row is the number of its entry. */
function All({ head, chosen, broken }: ListProps) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const pages = useMemo(
    () =>
      new EntryPages(
        async (range) => call('entries_read', range),
        () => redraw(undefined),
      ),
    [],
  );
  const reader = useReader();
  const [top, setTop] = useState(head);
  const range = useRef({ from: 0, to: 0 });
  const want = (): void => pages.want(top - range.current.to + 1, top - range.current.from);
  // A layout effect runs before the browser paints, so no click can begin between the check and the change.
  useLayoutEffect(() => {
    if (!reader.isReading() || (chosen ?? 0) > top) setTop(head);
  });
  useEffect(want, [top]);
  useEffect(() => pages.retry(), [standing.value.link.kind, useRetry(pages.error !== undefined)]);
  return (
    <Listed
      reader={reader}
      newCount={head - top}
      onShowNew={() => setTop(head)}
      error={pages.error}
      isEmpty={head === 0}
    >
      <VirtualList
        count={top}
        label="Entries"
        keyOf={(index) => String(top - index)}
        {...(chosen === undefined || chosen > top ? {} : { selected: top - chosen })}
        onRange={(from, to) => {
          range.current = { from, to };
          want();
        }}
      >
        {(index) => {
          const seq = top - index;
          return <EntryRow seq={seq} entry={pages.find(seq)} isChosen={seq === chosen} isBroken={seq === broken} />;
        }}
      </VirtualList>
    </Listed>
  );
}

/** The entries that match the filter. The last row shows how far was searched. */
function Found({ filter, head, chosen, broken }: ListProps) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const found = useMemo(() => {
    const input = { ...toFilterInput(filter), newest_first: true, limit: PAGE_ENTRIES };
    return new FoundEntries(
      async (within) => call('entries_read', { ...input, ...within }),
      head,
      () => redraw(undefined),
    );
  }, []);
  const reader = useReader();
  const { entries, newCount, isComplete } = found;
  useEffect(() => void found.more(), [standing.value.link.kind, useRetry(found.error !== undefined)]);
  useEffect(() => void found.look(head), [head]);
  useLayoutEffect(() => {
    if (newCount > 0 && !reader.isReading()) found.showNew();
  });
  const selected = entries.findIndex(({ seq }) => seq === chosen);
  return (
    <Listed
      reader={reader}
      newCount={newCount}
      onShowNew={() => found.showNew()}
      error={found.error}
      isEmpty={isComplete && entries.length === 0}
    >
      <VirtualList
        count={entries.length + 1}
        label="Entries that match the filter"
        keyOf={(index) => String(entries[index]?.seq ?? 'end')}
        {...(selected === -1 ? {} : { selected })}
        onRange={(_, to) => {
          if (to > entries.length) void found.more();
        }}
      >
        {(index) => {
          const entry = entries[index];
          if (entry === undefined) return <FoundEnd found={found} />;
          const { seq } = entry;
          return <EntryRow seq={seq} entry={entry} isChosen={seq === chosen} isBroken={seq === broken} />;
        }}
      </VirtualList>
    </Listed>
  );
}

function FoundEnd({ found }: { readonly found: FoundEntries }) {
  const { entries, isReading, isComplete, isFull, searchedTo } = found;
  if (isComplete) return <p class="row dim">{renderCount(entries.length)} entries match; all were searched.</p>;
  if (isReading) return <p class="row dim">Searching, down to #{renderCount(searchedTo)}…</p>;
  if (isFull) return <p class="row dim">These are the newest {renderCount(entries.length)}; narrow the filter.</p>;
  return (
    <p class="row dim">
      Searched down to #{renderCount(searchedTo)}.
      <button type="button" onClick={() => void found.more()}>
        Search further
      </button>
    </p>
  );
}

interface ListedProps {
  readonly reader: ReturnType<typeof useReader>;
  readonly newCount: number;
  readonly onShowNew: () => void;
  readonly error: EntryPages['error'];
  readonly isEmpty: boolean;
  readonly children: preact.ComponentChildren;
}

/** A list that does not move while the user reads it; a button shows new entries. */
function Listed({ reader, newCount, onShowNew, error, isEmpty, children }: ListedProps) {
  return (
    <div class="entries" ref={reader.box} {...reader.handlers}>
      {error === undefined ? null : (
        <Show loaded={{ value: true, error }} what="the list of entries">
          {() => null}
        </Show>
      )}
      {newCount > 0 ? (
        <button
          type="button"
          class="new-entries"
          onClick={() => {
            reader.toTop();
            onShowNew();
          }}
        >
          ↑ {renderCount(newCount)} new
        </button>
      ) : null}
      {isEmpty ? <Empty>No entry.</Empty> : children}
    </div>
  );
}

interface EntryRowProps {
  readonly seq: number;
  readonly entry: ShownEntry | undefined;
  readonly isChosen: boolean;
  readonly isBroken: boolean;
}

/** Memoised, so that a growing list draws only its new rows. */
function EntryRow({ seq, entry, isChosen, isBroken }: EntryRowProps) {
  const href = hrefTo({ view: 'ledger', id: String(seq), query: route.value.query });
  return useMemo(
    () => (
      <a
        class={isBroken ? 'row entry broken' : 'row entry'}
        href={href}
        aria-current={isChosen ? 'true' : undefined}
        data-seq={seq}
      >
        <span class="number seq">
          {isBroken ? '✕ ' : ''}#{renderCount(seq)}
        </span>
        {entry === undefined ? <span class="dim">…</span> : <EntryCells entry={entry} />}
      </a>
    ),
    [href, seq, entry, isChosen, isBroken],
  );
}

function EntryCells({ entry: { at, type, data, actor } }: { readonly entry: ShownEntry }) {
  return (
    <>
      <time class="number dim" dateTime={at} title={at}>
        {rowTime(at)}
      </time>
      <span class="type one-line">
        <Words text={type} most={64} />
      </span>
      <span class="grow one-line dim">
        <Words text={describeData(data)} most={200} />
      </span>
      <span class="task one-line">
        <Words text={subjectsOf(data).task} most={64} />
      </span>
      <span class="actor one-line dim">
        <Words text={shortActor(actor)} most={64} />
      </span>
    </>
  );
}
