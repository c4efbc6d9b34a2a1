import { linkSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, ApiError } from './answer.ts';
import { syncFolder } from './files.ts';
import { makeFolder } from './state-folder.ts';

/** A call whose daemon was away, as it lies on disk. */
export interface KeptCall {
  readonly v: 1;
  readonly operation: string;
  /** JSON text, as the caller gave it. */
  readonly input: string;
  /** Delivering it twice is delivering it once. */
  readonly key: string;
  readonly token: string;
  readonly projectPath: string | null;
  readonly keptAt: string;
}

export const OUTBOX_LIMITS = { calls: 1000, callBytes: 2 * 1024 * 1024, setAside: 100 } as const;

/**
 * Calls that say something, and whose caller can go on without the answer. A claim is not among them: one that takes effect
 * after its caller has given up would keep the task from everybody else.
 */
export const KEEPABLE: ReadonlySet<string> = new Set([
  'task_create',
  'task_release',
  'task_update',
  'task_unblock',
  'task_reinstate',
  'task_cancel',
  'task_waive',
  'thought_record',
  'task_complete',
  'exit_signal',
  'agent_signal',
  'agent_idle',
  'agent_stop',
  'agent_report',
  'command_report',
  'result_submit',
  'handoff_send',
  'merge_request',
]);

/** Writes the call to disk, durably, behind those that are there. Returns false if that fails. */
export function keepCall(outbox: string, call: KeptCall): boolean {
  const text = JSON.stringify(call);
  if (findObstacle(outbox, text) !== undefined) return false;
  const draft = join(outbox, `draft-${process.pid}-${call.key.replaceAll(/[^\w-]/g, '_')}`);
  try {
    makeFolder(outbox);
    writeDraft(draft, text);
    linkBehind(outbox, draft, Number.parseInt(listKept(outbox).at(-1) ?? '0', 10) + 1);
    rmSync(draft, { force: true });
    syncFolder(outbox);
    return true;
  } catch {
    return false;
  }
}

/** The answer for a call that could not be kept: the caller must know that it is lost. */
export function notKeptAnswer(outbox: string, call: KeptCall, { code, message, hint }: ApiError): Answer<never> {
  const why = findObstacle(outbox, JSON.stringify(call)) ?? `${outbox} cannot be written`;
  return {
    ok: false,
    error: {
      code,
      message: `${message}, and ${call.operation} was not kept: ${why}`,
      hint: `${hint.replace(/\.$/, '')}. Then send it again.`,
    },
  };
}

/** The answer for a call that is kept: neither done nor refused. */
export function keptAnswer(operation: string): Answer<never> {
  return {
    ok: false,
    error: {
      code: 'kept',
      message: `the daemon is away: ${operation} was kept and will be delivered`,
      hint: 'Nothing is lost, and nothing needs to be sent again. Start the daemon with: baton up',
    },
  };
}

/** The names of what waits, oldest first; none if the outbox cannot be read. */
export function listKept(outbox: string): readonly string[] {
  return findKept(outbox) ?? [];
}

/**
 * The names of what waits, oldest first. Undefined if the outbox cannot be read at the moment, for want of descriptors or memory: then
 * it is unknown whether calls wait.
 */
export function findKept(outbox: string): readonly string[] | undefined {
  try {
    return readdirSync(outbox)
      .filter((name) => KEPT_NAME.test(name))
      .toSorted();
  } catch (error) {
    return ABSENT_CODES.has(codeOf(error)) ? [] : undefined;
  }
}

/** One kept call; undefined if the file holds none, cannot be read, or has gone. */
export function readKept(outbox: string, name: string): KeptCall | undefined {
  const opened = openKept(outbox, name);
  return opened.kind === 'call' ? opened.call : undefined;
}

/** What a file of the outbox holds. One that cannot be read for a reason that passes may hold an acknowledged message. */
export type OpenedKept =
  | { readonly kind: 'call'; readonly call: KeptCall }
  | { readonly kind: 'gone' }
  | { readonly kind: 'corrupt' }
  | { readonly kind: 'unreadable'; readonly code: string };

export function openKept(outbox: string, name: string): OpenedKept {
  const path = join(outbox, name);
  try {
    if (statSync(path).size > OUTBOX_LIMITS.callBytes) return { kind: 'corrupt' };
    const text = readFileSync(path, 'utf8');
    const call = parseJson(text);
    return isKeptCall(call) ? { kind: 'call', call } : { kind: 'corrupt' };
  } catch (error) {
    const code = codeOf(error);
    if (ABSENT_CODES.has(code)) return { kind: 'gone' };
    return SHORTAGE_CODES.has(code) ? { kind: 'unreadable', code } : { kind: 'corrupt' };
  }
}

export function removeKept(outbox: string, name: string): void {
  rmSync(join(outbox, name), { force: true });
}

/** Takes a file that cannot be delivered out of the way, for a person to look at. The oldest of many are forgotten. */
export function setAsideKept(outbox: string, name: string, why: 'corrupt' | 'refused', content?: string): void {
  const folder = join(outbox, why);
  makeFolder(folder);
  const target = join(folder, `${Date.now()}-${name}`);
  // A full disk has no room for a copy, but the file itself can be moved.
  if (content === undefined || !tryWrite(target, content)) renameSync(join(outbox, name), target);
  else removeKept(outbox, name);
  const excess = readdirSync(folder).toSorted().slice(0, -OUTBOX_LIMITS.setAside);
  for (const old of excess) rmSync(join(folder, old), { force: true });
}

function tryWrite(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

const KEPT_NAME = /^\d{12}\.json$/;

function findObstacle(outbox: string, text: string): string | undefined {
  if (Buffer.byteLength(text) > OUTBOX_LIMITS.callBytes) return `it is larger than ${OUTBOX_LIMITS.callBytes} bytes`;
  return listKept(outbox).length < OUTBOX_LIMITS.calls
    ? undefined
    : `the outbox is full (${OUTBOX_LIMITS.calls} calls)`;
}

/** A full disk leaves half a draft behind, and is full enough without it. */
function writeDraft(draft: string, text: string): void {
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** A link fails if the name is taken: of two calls that are kept at once, one goes behind the other. */
function linkBehind(outbox: string, draft: string, first: number): void {
  for (let number = first; ; number++) {
    try {
      linkSync(draft, join(outbox, `${String(number).padStart(12, '0')}.json`));
      return;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

const ABSENT_CODES: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/** Failures that say nothing about the file: the same read succeeds later. */
const SHORTAGE_CODES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY', 'EIO', 'ESTALE']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isKeptCall(value: unknown): value is KeptCall {
  if (typeof value !== 'object' || value === null) return false;
  const call: Partial<Record<keyof KeptCall, unknown>> = value;
  const texts = [call.operation, call.input, call.key, call.token, call.keptAt];
  const hasPath = call.projectPath === null || typeof call.projectPath === 'string';
  return call.v === 1 && hasPath && texts.every((text) => typeof text === 'string');
}
