import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openKept, OUTBOX_LIMITS, type KeptCall, type OpenedKept } from '../api/outbox.ts';

export interface LanedCall {
  readonly kind: 'call';
  readonly lane: string;
  /** Name and key, because names are reused when the outbox is empty. */
  readonly id: string;
}

export type LaneResult = LanedCall | Exclude<OpenedKept, { kind: 'call' }>;

/** The lane of each file in the outbox. Checked before every message of a session, so each file is read only once. */
export class OutboxLanes {
  readonly #outbox: string;
  readonly #laneOf: (call: KeptCall) => string;
  readonly #known = new Map<string, LanedCall & { readonly stamp: string }>();

  constructor(outbox: string, laneOf: (call: KeptCall) => string) {
    this.#outbox = outbox;
    this.#laneOf = laneOf;
  }

  readLane(name: string): LaneResult {
    const stamp = readStamp(join(this.#outbox, name));
    const known = this.#known.get(name);
    if (known !== undefined && known.stamp === stamp) return known;
    this.#known.delete(name);
    const opened = openKept(this.#outbox, name);
    if (opened.kind !== 'call') return opened;
    const { call } = opened;
    const placed = { kind: 'call', lane: this.#laneOf(call), id: keptCallId(name, call) } as const;
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
