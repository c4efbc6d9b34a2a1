import { useEffect, useRef, useState } from 'preact/hooks';
import { call, useApi } from '../../app/hub-client.ts';
import type { Loaded } from '../../hub/messages.ts';
import { ASKED_TYPES, type Asked, hasFirst, listAsked, type ReadEntry } from '../../model/asked.ts';

/**
 * Loads what the agent received from the ledger. The newest part is kept up to date. A call reads a bounded part of the
 * ledger, so older parts are read once, back to the agent's first entry.
 */
export function useAsked(agentId: string): Loaded<readonly Asked[]> {
  const query = { newest_first: true, types: [...ASKED_TYPES], text: agentId, limit: 500 };
  const newest = useApi('entries_read', query, { on: `agent:${agentId}` });
  const known = useRef(new Map<number, ReadEntry>());
  const [, setOlderRead] = useState(0);
  for (const entry of newest.value?.entries ?? []) known.current.set(entry.seq, entry);
  const entries = [...known.current.values()];
  const isMissing = newest.value !== undefined && newest.value.next !== null && !hasFirst(entries, agentId);
  useEffect(() => {
    if (!isMissing) return undefined;
    const reading = new AbortController();
    const readOlder = async (): Promise<void> => {
      let to = newest.value?.next ?? null;
      while (to !== null && !reading.signal.aborted && !hasFirst([...known.current.values()], agentId)) {
        const answer: Awaited<ReturnType<typeof call<'entries_read'>>> = await call('entries_read', { ...query, to });
        if (!answer.ok) return;
        for (const entry of answer.result.entries) known.current.set(entry.seq, entry);
        to = answer.result.next;
        setOlderRead(to ?? 0);
      }
    };
    void readOlder();
    return () => reading.abort();
  }, [agentId, isMissing]);
  return newest.value === undefined
    ? newest.error === undefined
      ? {}
      : { error: newest.error }
    : { ...newest, value: listAsked(entries, agentId) };
}
