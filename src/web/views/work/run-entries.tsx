import { hrefTo } from '../../app/router.ts';
import { Actor } from './actor.tsx';
import { Empty } from '../../kit/loading.tsx';
import { renderTime } from '../../kit/time.tsx';
import { type Entries, useEntries } from './use-entries.ts';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { Words } from '../../kit/words.tsx';
import { fieldOf } from '../../../protocol/shape/read-unknown.ts';
import type { RunRef } from '../../model/run/steering.ts';

/** The type of a run's first entry; no older entry is about the run. */
const BEGINNING = { task: 'TaskCreated', pipeline: 'PipelineStarted', agent: 'AgentRequested' } as const;
const ID = { task: 'task_id', pipeline: 'pipeline_id', agent: 'agent_id' } as const;

/** Reads the entries of these types about a run, back to its first. */
export function useRunEntries({ kind, id }: RunRef, types: readonly string[]): Entries {
  const about = kind === 'task' ? { task_id: id } : { run_id: id };
  return useEntries(
    { ...about, types: [...new Set([...types, BEGINNING[kind]])] },
    {
      on: `${kind}:${id}`,
      until: ({ type, data }) => type === BEGINNING[kind] && fieldOf(data, ID[kind]) === id,
    },
  );
}

/** A note on what is missing in a list made from entries. */
export function EntriesNote({ read, what }: { readonly read: Entries; readonly what: string }) {
  const { error, isLoaded, hasMore } = read;
  if (error !== undefined)
    return (
      <p class="failure" role="alert">
        <strong>{isLoaded ? `${what} may be out of date` : `${what} cannot be shown`}:</strong>{' '}
        <Words text={error.message} />. <Words text={error.hint} />
      </p>
    );
  if (!isLoaded) return <p class="loading">Loading {what}…</p>;
  return hasMore ? <p class="dim">Reading older entries…</p> : null;
}

/** All entries about a run, newest first. */
export function RunEntries({ run: { kind, id } }: { readonly run: RunRef }) {
  const read = useEntries(kind === 'task' ? { task_id: id } : { run_id: id }, { on: `${kind}:${id}` });
  const { entries, isLoaded, hasMore, readOlder } = read;
  return (
    <>
      {isLoaded && read.error === undefined ? null : <EntriesNote read={read} what="the entries" />}
      {isLoaded && entries.length === 0 && !hasMore ? <Empty>There are no entries about this run.</Empty> : null}
      <VirtualList
        count={entries.length}
        label="Entries"
        keyOf={(index) => String(entries[index]?.seq ?? index)}
        onRange={(_, to) => (hasMore && to >= entries.length ? readOlder() : undefined)}
      >
        {(index) => {
          const entry = entries[index];
          return entry === undefined ? null : (
            <a class="row entry-row" href={hrefTo({ view: 'ledger', id: String(entry.seq) })} data-seq={entry.seq}>
              <span class="number dim">#{entry.seq}</span>
              <time class="number dim" dateTime={entry.at}>
                {renderTime(entry.at)}
              </time>
              <span class="one-line grow">{entry.type}</span>
              <span class="one-line dim">
                <Actor actor={entry.actor} />
              </span>
            </a>
          );
        }}
      </VirtualList>
    </>
  );
}
