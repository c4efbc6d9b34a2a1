import { existsSync, readFileSync } from 'node:fs';
import { hasEnded } from '../../api/process-identity.ts';
import { isShortage } from '../../protocol/shortage.ts';
import type { agentFiles, Exit, Running } from '../../supervisor/contract.ts';
import { findProcessesByArguments } from './reap.ts';

export type SupervisedFiles = ReturnType<typeof agentFiles>;

/** Where one start of a supervised process stands, as far as its folder and the machine tell. */
export type SupervisedProcess =
  /** No supervisor has taken it. */
  | { readonly kind: 'untaken' }
  /** A supervisor is at it; its process does not run yet. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly running: Running }
  | { readonly kind: 'ended'; readonly running: Running | undefined; readonly exit: Exit }
  /** Its supervisor has gone without a word. What it had started may still be there. */
  | { readonly kind: 'lost'; readonly running: Running | undefined };

/** `isThere`: the supervisor is known to live, whether or not it has said so yet. */
export function inspectSupervised(files: SupervisedFiles, start: number, isThere = false): SupervisedProcess {
  const running = readRunning(files, start);
  // Asked before the folder is read again: one that ends in between has written its last word by then.
  const isAlive = running === undefined ? isThere || isStarting(files, start) : !hasEnded(running.supervisor);
  const exit = readExit(files, start);
  if (exit !== undefined) return { kind: 'ended', running: running ?? readRunning(files, start), exit };
  if (running !== undefined) return isAlive ? { kind: 'running', running } : { kind: 'lost', running };
  if (isAlive) return { kind: 'starting' };
  // It may have come to run, and have been killed, since we looked first.
  const late = readRunning(files, start);
  if (late !== undefined)
    return hasEnded(late.supervisor) ? { kind: 'lost', running: late } : { kind: 'running', running: late };
  return existsSync(files.taken(start)) ? { kind: 'lost', running: undefined } : { kind: 'untaken' };
}

export function readRunning(files: SupervisedFiles, start: number): Running | undefined {
  // Supervisors write their files whole: what is there and reads is what they wrote.
  return readJson(files.running(start)) as Running | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function readExit(files: SupervisedFiles, start: number): Exit | undefined {
  return readJson(files.exit(start)) as Exit | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** A supervisor that has not said where it listens is known by the words it was started with. Without a launch there is none. */
function isStarting(files: SupervisedFiles, start: number): boolean {
  return existsSync(files.launch(start)) && findProcessesByArguments(files.folder, String(start)).length > 0;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // A file that cannot be opened for want of a descriptor may well be there.
    if (isShortage(error)) throw error;
    return undefined;
  }
}
