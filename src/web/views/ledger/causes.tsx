import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../../../api/answer.ts';
import { call } from '../../app/hub-client.ts';
import { hrefTo, route } from '../../app/router.ts';
import { Show } from '../../kit/loading.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { Words } from '../../kit/words.tsx';
import { describeData, type ShownEntry } from '../../model/ledger/describe-entry.ts';
import { rowTime } from './ledger-head.tsx';
import { useRetry } from '../../kit/use-retry.ts';

/** How many causes are followed before the user has to continue. */
const MOST_CAUSES = 12;
/** The range that is searched, because an entry's effects are recorded soon after it. */
const WINDOW = 500;

/** The chain of causes up to the first one, and the effects of this entry. */
export function Causes({ seq, cause }: { readonly seq: number; readonly cause: number | null }) {
  return (
    <>
      <section aria-label="Causes">
        <h3>Caused by</h3>
        {cause === null ? <p class="dim">Nothing: this entry begins a chain of causes.</p> : <Chain first={cause} />}
      </section>
      <section aria-label="Consequences">
        <h3>Caused</h3>
        <Consequences seq={seq} />
      </section>
    </>
  );
}

function Chain({ first }: { readonly first: number }) {
  const [causes, setCauses] = useState<readonly ShownEntry[]>([]);
  const [most, setMost] = useState(MOST_CAUSES);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const next = causes.length === 0 ? first : (causes.at(-1)?.cause ?? null);
  useEffect(() => {
    if (next === null || causes.length >= most) return undefined;
    let isCurrent = true;
    void call('entries_read', { from: next, to: next }).then((answer) => {
      if (!isCurrent) return;
      setError(answer.ok ? undefined : answer.error);
      const [found] = answer.ok ? answer.result.entries : [];
      if (found !== undefined) setCauses([...causes, found]);
    });
    return () => void (isCurrent = false);
  }, [next, most, useRetry(error !== undefined)]);
  return (
    <>
      <EntryLinks entries={causes} />
      {error === undefined ? null : (
        <Show loaded={{ value: true, error }} what="the causes">
          {() => null}
        </Show>
      )}
      {next === null ? null : causes.length >= most ? (
        <button type="button" onClick={() => setMost(most + MOST_CAUSES)}>
          Earlier causes
        </button>
      ) : null}
    </>
  );
}

interface Searched {
  readonly entries: readonly ShownEntry[];
  readonly to: number;
  readonly head: number;
  readonly error?: ApiError;
}

function Consequences({ seq }: { readonly seq: number }) {
  const [searched, setSearched] = useState<Searched>({ entries: [], to: seq, head: Infinity });
  const [until, setUntil] = useState(seq + WINDOW);
  const { entries, to, head, error } = searched;
  useEffect(() => {
    if (to >= Math.min(until, head)) return undefined;
    let isCurrent = true;
    void call('entries_read', { from: to + 1, to: until, limit: WINDOW }).then((answer) => {
      if (!isCurrent) return;
      if (!answer.ok) return setSearched({ ...searched, error: answer.error });
      const { entries: read, next, head: newest } = answer.result;
      const caused = read.filter(({ cause }) => cause === seq);
      const reached = Math.max(to + 1, Math.min(newest, next === null ? until : next - 1));
      setSearched({ entries: [...entries, ...caused], to: reached, head: newest });
    });
    return () => void (isCurrent = false);
  }, [to, until, useRetry(error !== undefined)]);
  const isSearching = error === undefined && to < Math.min(until, head);
  return (
    <>
      {error === undefined ? null : (
        <Show loaded={{ value: true, error }} what="what it caused">
          {() => null}
        </Show>
      )}
      <EntryLinks entries={entries} />
      <p class="bar dim">
        {isSearching
          ? 'Searching…'
          : `${entries.length === 0 ? 'Nothing' : 'Nothing else'} up to #${renderCount(Math.min(to, head))}.`}
        {!isSearching && to < head ? (
          <button type="button" onClick={() => setUntil(to + 4 * WINDOW)}>
            Search further
          </button>
        ) : null}
      </p>
    </>
  );
}

function EntryLinks({ entries }: { readonly entries: readonly ShownEntry[] }) {
  return (
    <ul class="rows linked">
      {entries.map(({ seq, type, at, data }) => (
        <li key={seq}>
          <a class="row entry" href={hrefTo({ view: 'ledger', id: String(seq), query: route.value.query })}>
            <span class="number seq">#{renderCount(seq)}</span>
            <time class="number dim" dateTime={at}>
              {rowTime(at)}
            </time>
            <span class="type one-line">
              <Words text={type} most={64} />
            </span>
            <span class="grow one-line dim">
              <Words text={describeData(data)} most={160} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
