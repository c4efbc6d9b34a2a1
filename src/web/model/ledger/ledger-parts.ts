import type { Answer } from '../../../api/answer.ts';
import type { Entry } from '../../../ledger/format/entry.ts';
import { fieldsInJson, isObject } from '../../../protocol/shape/read-unknown.ts';

/** A part of the ledger in the form of an export: one `{entry, hash}` or `{checkpoint}` per line. */
export interface LedgerPart {
  readonly lines: readonly string[];
  /** The first entry of the next part; null if this part reaches the end. */
  readonly next: number | null;
}

/** Reads at most `limit` entries, starting at `from`. */
export type ReadPart = (from: number, limit: number) => Promise<Answer<LedgerPart>>;

/** Reports whether the line is an entry; the others are checkpoints. */
export function isEntryLine(line: string): boolean {
  return line.startsWith('{"entry":');
}

/** Parses one line of an export without checking the chain: see `web/hub/chain-check.ts`. */
export function parseExportedEntry(line: string): Entry | undefined {
  const { entry } = fieldsInJson(line);
  if (!isObject(entry) || typeof entry['seq'] !== 'number' || typeof entry['at'] !== 'string') return undefined;
  if (typeof entry['type'] !== 'string' || !isObject(entry['data'])) return undefined;
  return entry as unknown as Entry; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what the fold reads is checked
}

/** Yields to the worker's other work. */
export type TakeTurn = () => Promise<void>;

/** Longer slices would delay the event stream and the tabs' requests. */
const SLICE_MS = 20;

/** Measures how long a loop has blocked the thread, and pauses it after each slice. */
export class Slices {
  readonly #turn: TakeTurn;
  readonly #now: () => number;
  #began: number;

  constructor(turn: TakeTurn, now: () => number = () => performance.now()) {
    this.#turn = turn;
    this.#now = now;
    this.#began = now();
  }

  get isOver(): boolean {
    return this.#now() - this.#began >= SLICE_MS;
  }

  async pause(): Promise<void> {
    await this.#turn();
    this.#began = this.#now();
  }
}

/** Yields with a message, because a timer would wait at least 4 ms. */
export async function takeTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
