import { statSync } from 'node:fs';
import { join } from 'node:path';
import { findKept, openKept, OUTBOX_LIMITS, setAsideKept, type KeptCall, type OpenedKept } from '../api/outbox.ts';
import type { Caller } from '../state/caller.ts';
import { causeOf, type Log } from './log.ts';
import type { CallerIdentity } from './tokens.ts';

/** Calls that must stay in order: those of one session. `EVERY_SESSION` stands for all sessions of the project. */
export interface Lane {
  readonly project: string;
  readonly session: string;
}

export const EVERY_SESSION = '';

export function laneKey({ project, session }: Lane): string {
  return `${project} ${session}`;
}

/** Whether the calls of two lanes could be delivered in the wrong order if both ran at the same time. */
export function mayCollide(one: Lane, other: Lane): boolean {
  const isAny = one.session === EVERY_SESSION || other.session === EVERY_SESSION;
  return one.project === other.project && (isAny || one.session === other.session);
}

export function sumOf(ends: readonly LaneEnd[]): { readonly delivered: number; readonly refused: number } {
  return {
    delivered: ends.reduce((sum, end) => sum + end.delivered, 0),
    refused: ends.reduce((sum, end) => sum + end.refused, 0),
  };
}

/** A run of a lane, in progress or waiting for others. */
export interface LaneRun {
  readonly lane: Lane;
  readonly end: Promise<LaneEnd>;
  readonly isBegun: boolean;
}

export interface LaneEnd {
  readonly delivered: number;
  readonly refused: number;
  readonly isWaiting: boolean;
}

/** A kept call whose file can be read. */
export interface KeptFile {
  readonly kind: 'call';
  readonly name: string;
  /** The token's project; for operators and workers the path that the call names. */
  readonly project: string;
  readonly identity: CallerIdentity | undefined;
  /** Name and key, because names are reused when the outbox is empty. */
  readonly id: string;
}

export type LaneResult = KeptFile | Exclude<OpenedKept, { kind: 'call' }>;

interface OutboxLanesOptions {
  readonly outbox: string;
  readonly identify: (token: string) => CallerIdentity | undefined;
  /** The session for which a caller acts; undefined if the project is not open. */
  readonly sessionOf: (projectId: string, caller: Caller) => string | undefined;
}

/** The lane of each file in the outbox. Checked before every message of a session, so each file is read only once. */
export class OutboxLanes {
  readonly #options: OutboxLanesOptions;
  readonly #known = new Map<string, KeptFile & { readonly stamp: string }>();

  constructor(options: OutboxLanesOptions) {
    this.#options = options;
  }

  /** The kept calls, oldest first. `isComplete` is false if a file cannot be read now. */
  scan(): { readonly files: readonly KeptFile[]; readonly isComplete: boolean } {
    const names = findKept(this.#options.outbox);
    const read = (names ?? []).map((name) => this.readLane(name));
    const files = read.filter((each) => each.kind === 'call');
    return { files, isComplete: names !== undefined && read.every(({ kind }) => kind !== 'unreadable') };
  }

  /** While its project is closed, a call waits for all earlier calls of the project. */
  laneOf(project: string, caller: Caller): Lane {
    return { project, session: this.#options.sessionOf(project, caller) ?? EVERY_SESSION };
  }

  laneOfFile({ project, identity }: KeptFile): Lane {
    return identity?.project === undefined
      ? { project, session: EVERY_SESSION }
      : this.laneOf(project, identity.caller);
  }

  /** The lanes of the files, in the order of their first calls. */
  lanesOf(files: readonly KeptFile[]): readonly Lane[] {
    const lanes = files.map((file) => this.laneOfFile(file));
    return [...new Map(lanes.map((lane) => [laneKey(lane), lane])).values()];
  }

  /** Moves files without a call aside. Returns whether every file can be read. */
  setCorruptAside(log: Pick<Log, 'error'>): boolean {
    const { outbox } = this.#options;
    const names = findKept(outbox);
    if (names === undefined) log.error('the outbox cannot be read', { path: outbox });
    let isReadable = names !== undefined;
    for (const name of names ?? []) {
      const found = this.readLane(name);
      if (found.kind === 'unreadable') {
        isReadable = false;
        log.error('a kept call cannot be read yet', { name, code: found.code });
      }
      if (found.kind !== 'corrupt') continue;
      log.error('a kept call cannot be read, and was set aside', { name });
      try {
        setAsideKept(outbox, name, 'corrupt');
      } catch (error) {
        log.error('a kept call cannot be set aside', { name, cause: causeOf(error) });
      }
    }
    return isReadable;
  }

  readLane(name: string): LaneResult {
    const { outbox, identify } = this.#options;
    const stamp = readStamp(join(outbox, name));
    const known = this.#known.get(name);
    if (known !== undefined && known.stamp === stamp) return known;
    this.#known.delete(name);
    const opened = openKept(outbox, name);
    if (opened.kind !== 'call') return opened;
    const { call } = opened;
    const identity = identify(call.token);
    const project = identity?.project ?? call.projectPath ?? call.token;
    const placed = { kind: 'call', name, project, identity, id: keptCallId(name, call) } as const;
    if (this.#known.size >= 2 * OUTBOX_LIMITS.calls) this.#known.clear();
    if (stamp !== undefined) this.#known.set(name, { ...placed, stamp });
    return placed;
  }
}

export function keptCallId(name: string, { key }: KeptCall): string {
  return `${name} ${key}`;
}

/** If this fails, opening the file reports why. */
function readStamp(path: string): string | undefined {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return undefined;
  }
}
