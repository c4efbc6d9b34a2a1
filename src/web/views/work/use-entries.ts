import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ApiError } from '../../../api/answer.ts';
import type { LedgerEntry } from '../../../api/operations/ledger.ts';
import type { InputOf } from '../../../api/operations/registry.ts';
import { call, standing, useApi } from '../../app/hub-client.ts';
import type { Topic } from '../../hub/messages.ts';
import { useRetry } from '../../kit/use-retry.ts';

export type EntriesFilter = Pick<InputOf<'entries_read'>, 'types' | 'task_id' | 'run_id' | 'actor' | 'text'>;

export interface Entries {
  /** The entries, newest first. */
  readonly entries: readonly LedgerEntry[];
  readonly isLoaded: boolean;
  /** Whether older entries may match. */
  readonly hasMore: boolean;
  readonly error?: ApiError;
  readonly readOlder: () => void;
}

interface Older {
  readonly entries: readonly LedgerEntry[];
  readonly next: number | null;
}

const PAGE = 200;
const NEW_MOST = 1000;
/** Limits how far this reads back: a call reads ten thousand entries. */
const MOST_PAGES = 40;

/**
 * Loads entries that match a filter: the newest first, older ones page by page, and new ones as they are recorded. With
 * `until` it reads back by itself, to the entry for which `until` holds, such as the start of a run.
 */
export function useEntries(
  filter: EntriesFilter,
  { on, until }: { readonly on: Topic; readonly until?: (entry: LedgerEntry) => boolean },
): Entries {
  const name = JSON.stringify(filter);
  const first = useApi('entries_read', { ...filter, newest_first: true, limit: PAGE });
  const [known, setKnown] = useState<{ readonly name: string; readonly head: number; readonly older: Older }>();
  const own = known?.name === name ? known : undefined;
  useEffect(() => {
    const { value } = first;
    if (value !== undefined && own === undefined)
      setKnown({ name, head: value.head, older: { entries: value.entries, next: value.next } });
  }, [first.value, own === undefined, name]);
  const added = useApi(
    'entries_read',
    own === undefined ? undefined : { ...filter, from: own.head + 1, limit: NEW_MOST },
    { on },
  );
  // Repeated when the daemon is back.
  const link = standing.value.link.kind;
  const [wanted, setWanted] = useState(0);
  const [failure, setFailure] = useState<ApiError>();
  const older = own?.older;
  const isWanted = older !== undefined && older.next !== null && (until === undefined || !older.entries.some(until));
  useEffect(() => {
    if (older === undefined || older.next === null || !isWanted) return;
    if (until === undefined ? wanted === 0 : wanted > MOST_PAGES) return;
    let isCurrent = true;
    void call('entries_read', { ...filter, newest_first: true, limit: PAGE, to: older.next }).then((answer) => {
      if (!isCurrent) return;
      setFailure(answer.ok ? undefined : answer.error);
      if (!answer.ok && until === undefined) setWanted(0);
      if (!answer.ok) return;
      const { entries, next } = answer.result;
      setKnown((before) => before && { ...before, older: { entries: [...before.older.entries, ...entries], next } });
      // Without `until` each page is requested; with it, pages are counted.
      setWanted((count) => (until === undefined ? 0 : count + 1));
    });
    return () => {
      isCurrent = false;
    };
  }, [name, older?.next, wanted > 0, isWanted, link, useRetry(failure !== undefined)]);
  const entries = useMemo(() => merge(older?.entries ?? [], added.value?.entries ?? []), [older, added.value]);
  const error = failure ?? added.error ?? first.error;
  return {
    entries,
    isLoaded: own !== undefined,
    hasMore: isWanted,
    ...(error === undefined ? {} : { error }),
    readOlder: () => setWanted((count) => Math.max(1, count)),
  };
}

function merge(older: readonly LedgerEntry[], added: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const bySeq = new Map([...older, ...added].map((entry) => [entry.seq, entry]));
  return [...bySeq.values()].toSorted((a, b) => b.seq - a.seq);
}
