import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readableLogView } from '../agents/log-view.ts';

/**
 * The newest line of an agent's log, in the form for people. The log may not exist yet, or may be on another machine.
 */
export class AgentLine {
  readonly agentId: string;
  readonly #log: string;
  readonly #view: ReturnType<typeof readableLogView>;
  #at: number | undefined;
  #newest: string | undefined;

  constructor(agentId: string, run: string, log: string) {
    this.agentId = agentId;
    this.#log = log;
    this.#view = readableLogView({ run }, false);
  }

  /** Reads what was written since the last call. */
  read(): string | undefined {
    const said = this.#view.push(this.#readNew()).findLast((line) => line.trim() !== '');
    this.#newest = said?.trim() ?? this.#newest;
    return this.#newest;
  }

  #readNew(): Uint8Array {
    let file: number;
    try {
      file = openSync(this.#log, 'r');
    } catch {
      return NOTHING;
    }
    try {
      const { size } = fstatSync(file);
      const start = Math.max(0, size - MAX_BYTES);
      // A log that was cut is shorter than before.
      const from = this.#at === undefined || this.#at > size ? start : Math.max(this.#at, start);
      const bytes = Buffer.alloc(size - from);
      const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
      const isCut = from > 0 && from !== this.#at;
      this.#at = from + read.length;
      // The first line is incomplete.
      return isCut ? read.subarray(read.indexOf(10) + 1) : read;
    } finally {
      closeSync(file);
    }
  }
}

const NOTHING = new Uint8Array();
const MAX_BYTES = 262_144;
