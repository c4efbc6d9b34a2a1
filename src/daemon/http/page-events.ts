import type { ServerResponse } from 'node:http';
import { openEventStream, renderPlainEvent } from '../../api/http/event-stream.ts';
import { WakeSignal } from '../../api/wake-signal.ts';
import { isObject } from '../../protocol/shape/read-unknown.ts';
import { SERVER_LIMITS } from '../limits.ts';
import type { EntryFeed } from '../project/entry-feed.ts';
import type { OpenProject, Projects } from '../project/projects.ts';
import { writeText } from './events.ts';

interface Followed {
  readonly feed: EntryFeed;
  readonly leave: () => void;
  /** The number of the last entry sent. */
  seq: number;
}

export interface PageStreamOptions {
  /** The last entry that the page has of each project. A project that is not listed starts at its head. */
  readonly after: ReadonlyMap<string, number>;
  readonly instance: string;
  readonly signal: AbortSignal;
  readonly now?: () => Date;
}

/**
 * Streams the new entries of every open project, and a pulse each second. Projects opened later are added. Resolves
 * when the stream has ended.
 */
export async function streamPage(
  response: ServerResponse,
  projects: Pick<Projects, 'opened' | 'onOpened'>,
  { after, instance, signal, now = () => new Date() }: PageStreamOptions,
): Promise<void> {
  const bell = new WakeSignal();
  const ring = (): void => bell.ring();
  const followed = new Map<string, Followed>();
  const join = ({ project, feed }: OpenProject): void => {
    if (followed.has(project.id)) return;
    const leave = feed.follow(ring);
    // The pulse tells the page if it is ahead of the ledger.
    const seq = Math.min(after.get(project.id) ?? Infinity, project.ledger.head.size);
    followed.set(project.id, { feed, leave, seq });
    ring();
  };
  const stopJoining = projects.onOpened(join);
  for (const open of projects.opened()) join(open);
  signal.addEventListener('abort', ring, { once: true });
  response.once('close', ring);
  openEventStream(response);
  response.write(renderPlainEvent('open', JSON.stringify({ instance })));
  const pulse = setInterval(() => {
    // Retries a store that was unavailable.
    ring();
    if (response.writableLength === 0) response.write(renderPulse(followed, now()));
  }, SERVER_LIMITS.pagePulseMs);
  try {
    while (!signal.aborted && !response.destroyed) {
      const sent = await sendNew(response, followed, signal);
      if (sent === 'cut-off') return;
      if (sent === 'nothing') await bell.wait();
    }
  } finally {
    clearInterval(pulse);
    stopJoining();
    for (const { leave } of followed.values()) leave();
    response.end();
  }
}

/** Runs one round over all projects, so that the backlog of one does not delay the others. */
async function sendNew(
  response: ServerResponse,
  followed: ReadonlyMap<string, Followed>,
  signal: AbortSignal,
): Promise<'something' | 'nothing' | 'cut-off'> {
  let sent: 'something' | 'nothing' = 'nothing';
  for (const each of followed.values()) {
    const next = await each.feed.readAfter(each.seq, 'page').catch(() => undefined);
    if (next === undefined || next.seq === each.seq) continue;
    sent = 'something';
    if (!(await writeText(response, next.text, signal, SERVER_LIMITS.streamStallMs))) return 'cut-off';
    each.seq = next.seq;
  }
  return sent;
}

function renderPulse(followed: ReadonlyMap<string, Followed>, at: Date): string {
  const projects = Object.fromEntries([...followed].map(([id, { seq }]) => [id, seq]));
  return renderPlainEvent('pulse', JSON.stringify({ at: at.toISOString(), projects }));
}

/** Parses the header `baton-page-after`. Undefined if it is not a map of numbers. */
export function parseAfter(header: string): ReadonlyMap<string, number> | undefined {
  if (header === '') return new Map();
  try {
    const value: unknown = JSON.parse(header);
    if (!isObject(value)) return undefined;
    const after = new Map<string, number>();
    for (const [id, seq] of Object.entries(value)) {
      if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return undefined;
      after.set(id, seq);
    }
    return after;
  } catch {
    return undefined;
  }
}
