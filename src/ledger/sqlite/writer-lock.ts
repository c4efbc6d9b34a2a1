import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import type { Problem } from '../../protocol/shape/problem.ts';
import { ledgerProblem } from '../format/limits.ts';
import type { Failure } from '../store.ts';
import { isBusy } from './lock-wait.ts';

export type WriterLock = { readonly ok: true; readonly release: () => void } | Failure;

/**
 * Locks the file for one writer. The lock is an open transaction in a separate SQLite file; the system releases it if
 * the process dies.
 */
export function lockWriter(path: string, now: Date = new Date()): WriterLock {
  const db = new DatabaseSync(`${path}.lock`, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw error;
    return { ok: false, problem: writerLockTaken(path) };
  }
  const holder = { pid: process.pid, host: hostname(), since: now.toISOString() };
  try {
    writeFileSync(`${path}.writer`, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  } catch (error) {
    db.close();
    throw error;
  }
  return { ok: true, release: () => db.close() };
}

function writerLockTaken(path: string): Problem {
  return ledgerProblem(
    'ledger/taken',
    `another process writes to ${path}: ${describeHolder(path)}`,
    'Stop that process first (`baton down`), or use another state folder (BATON_STATE_DIR).',
  );
}

function describeHolder(path: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(`${path}.writer`, 'utf8'));
    if (typeof holder === 'object' && holder && 'pid' in holder && 'host' in holder && 'since' in holder) {
      return `process ${String(holder.pid)} on ${String(holder.host)}, since ${String(holder.since)}`;
    }
  } catch {
    // The holder has the lock but has not written its name yet.
  }
  return 'it has just started';
}
