import { stateFiles } from '../api/state-folder.ts';
import { readFileIfPresent, writeFileAtomically } from '../api/files.ts';
import { fieldsInJson, fieldsOf } from '../protocol/shape/read-unknown.ts';

/** The crashes of a state folder's daemon, for `status` and for the next watchdog. */
export interface RestartRecord {
  readonly v: 1;
  /** The number of crashes since a daemon last ran for a while, or since a person started one. */
  readonly in_row: number;
  readonly at: string;
  readonly reason: string;
  readonly gave_up: boolean;
}

export function readRestarts(stateDir: string): RestartRecord | undefined {
  const record: unknown = fieldsInJson(readFileIfPresent(stateFiles(stateDir).restarts));
  return isRecord(record) ? record : undefined;
}

export function writeRestarts(stateDir: string, record: RestartRecord): void {
  try {
    writeFileAtomically(stateFiles(stateDir).restarts, `${JSON.stringify(record)}\n`);
  } catch {
    // A full disk must not prevent a restart; the watchdog keeps counting in memory.
  }
}

/** Resets the count, because a person started the daemon. The crashes stay recorded for `status`. */
export function resetCrashCount(stateDir: string): void {
  const record = readRestarts(stateDir);
  if (record !== undefined && record.in_row > 0) writeRestarts(stateDir, { ...record, in_row: 0 });
}

function isRecord(value: unknown): value is RestartRecord {
  const { v, in_row, at, reason, gave_up } = fieldsOf(value);
  const hasTexts = typeof at === 'string' && typeof reason === 'string';
  return v === 1 && Number.isSafeInteger(in_row) && hasTexts && typeof gave_up === 'boolean';
}
