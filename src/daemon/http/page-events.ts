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
  /** The last entry that was sent. */
  seq: number;
}

export interface PageStreamOptions {
  /** The last entry of each project that the page has. A project that is missing here starts at its head. */
  readonly after: ReadonlyMap<string, number>;
  readonly instance: string;
  readonly signal: AbortSignal;
  readonly now?: () => Date;
}

/** The new entries of every open project, and a pulse a second. Projects that are opened later join. Resolves when the stream has ended. */
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
    // A page that is ahead of the ledger learns that from the pulse.
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
    // A store that was away is tried again.
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

/** One round over the projects, so that a long backlog of one does not hold up the others. */
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

/** The header `baton-page-after`. Undefined if it is no map of numbers. */
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
