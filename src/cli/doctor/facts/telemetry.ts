import { accessSync, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { readDaemonRecord, stateFiles } from '../../../api/state-folder.ts';
import { fieldsInJson, textOf } from '../../../protocol/shape/read-unknown.ts';
import type { TelemetryFacts } from '../checks/telemetry.ts';
import type { Place } from '../place.ts';

export function readTelemetryFacts({ env, stateDir }: Place): TelemetryFacts {
  const module = env['BATON_TELEMETRY'] || undefined;
  if (module === undefined) return { module, isReadable: true, logged: null };
  const pid = readDaemonRecord(stateDir)?.pid;
  const logged = pid === undefined ? null : findLogged(stateFiles(stateDir).log, pid);
  return { module, isReadable: canRead(module), logged };
}

function canRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Finds what the running daemon logged about its telemetry module at its start. */
function findLogged(log: string, pid: number): TelemetryFacts['logged'] {
  const lines = readEnd(log).split('\n').toReversed();
  for (const line of lines) {
    if (!line.includes('telemetry')) continue;
    const { message, level, pid: by } = fieldsInJson(line);
    const text = textOf(message);
    if (by === pid && /^(?:the )?telemetry (?:is|module)/.test(text)) return { isError: level === 'error', text };
  }
  return null;
}

function readEnd(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const length = Math.min(size, END_BYTES);
    const buffer = Buffer.alloc(length);
    readSync(file, buffer, 0, length, size - length);
    return buffer.toString('utf8');
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const END_BYTES = 262_144;
