import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../answer.ts';
import type { Reached } from './reach.ts';
import { readEvents } from './read-events.ts';

const AWAY: ApiError = { code: 'daemon-away', message: 'no daemon', hint: 'baton up' };
const REFUSED: ApiError = { code: 'forbidden', message: 'no', hint: '' };

/**
 * The results of successive connection attempts: a list streams these entries and then breaks. `asked` records from
 * which entry each connection was to continue.
 */
function connections(...given: readonly (readonly number[] | ApiError)[]) {
  const left = [...given];
  const asked: (string | undefined)[] = [];
  const connect = async (): Promise<Reached> => {
    const next = left.shift();
    if (next === undefined) throw new Error('no more connections');
    if ('code' in next) return { ok: false, error: next };
    const events = next.map((seq) => `id: ${seq}\nevent: TaskCreated\ndata: {}\n\n`).join('');
    const stream = ({ headers }: { readonly headers: Record<string, string> }): unknown => {
      asked.push(headers['last-event-id']);
      return Readable.from([Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${events}`)]);
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { ok: true, connection: { stream, close: () => {} } } as unknown as Reached;
  };
  return { asked, options: { connect, headers: () => ({}) } };
}

async function readAll(events: ReturnType<typeof readEvents>): Promise<readonly [number[], string | undefined]> {
  const seqs: number[] = [];
  for (;;) {
    const next = await events.next();
    if (next.done === true) return [seqs, next.value?.code];
    seqs.push(next.value.seq);
  }
}

describe('a stream of events that breaks', () => {
  it('resumes after the last entry if the next daemon starts within awayMs', async () => {
    const { asked, options } = connections([1, 2], AWAY, AWAY, [3], REFUSED);
    expect(await readAll(readEvents({ ...options, awayMs: 60_000 }))).toEqual([[1, 2, 3], 'forbidden']);
    expect(asked).toEqual(['0', '2']);
  });

  it('ends if no daemon starts within awayMs', async () => {
    expect(await readAll(readEvents({ ...connections([1], AWAY).options, awayMs: 0 }))).toEqual([[1], 'daemon-away']);
  });

  it('ends with any other error at once', async () => {
    const { options } = connections([1], REFUSED);
    expect(await readAll(readEvents({ ...options, awayMs: 60_000 }))).toEqual([[1], 'forbidden']);
  });

  it('ends without an error if it is cancelled while the daemon is unavailable', async () => {
    const off = new AbortController();
    const { options } = connections([1], AWAY);
    const connect = async (): Promise<Reached> => {
      const reached = await options.connect();
      if (!reached.ok) off.abort();
      return reached;
    };
    const events = readEvents({ ...options, connect, awayMs: 60_000, signal: off.signal });
    expect(await readAll(events)).toEqual([[1], undefined]);
  });
});
