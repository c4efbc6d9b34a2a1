import { linkSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsInJson } from '../protocol/shape/read-unknown.ts';
import type { Answer, ApiError } from './answer.ts';
import { syncFolder } from './files.ts';
import { makeFolder } from './state-folder.ts';

export interface KeptCall {
  readonly v: 1;
  readonly operation: string;
  readonly input: string;
  /** A call that is delivered twice takes effect once. */
  readonly key: string;
  readonly token: string;
  readonly projectPath: string | null;
  readonly keptAt: string;
}

export const OUTBOX_LIMITS = { calls: 1000, callBytes: 2 * 1024 * 1024, setAside: 100 } as const;

/**
 * Writes whose callers can continue without the answer. Claims are not among them: a claim that takes effect after its
 * caller gave up would block the task.
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

/** A handoff_send without a handoff only requests the form, so it is not kept. */
export function isKeepable(operation: string, input: string): boolean {
  return KEEPABLE.has(operation) && (operation !== 'handoff_send' || 'handoff' in fieldsInJson(input));
}

/** Stores the call durably behind earlier ones. Returns false if that fails. */
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

export function keptAnswer(operation: string, away: 'daemon' | 'database' = 'daemon'): Answer<never> {
  return {
    ok: false,
    error: {
      code: 'kept',
      message: `the ${away} is away: ${operation} was kept and will be delivered`,
      hint: `Nothing is lost, and nothing needs to be sent again.${away === 'daemon' ? ' Start the daemon with: baton up' : ''}`,
    },
  };
}

export function listKept(outbox: string): readonly string[] {
  return findKept(outbox) ?? [];
}

/**
 * The names of kept calls, oldest first. Undefined if a shortage prevents reading, so that the caller does not take the
 * outbox for empty.
 */
export function findKept(outbox: string): readonly string[] | undefined {
  try {
    return readdirSync(outbox)
      .filter((name) => /^\d{12}\.json$/.test(name))
      .toSorted();
  } catch (error) {
    return ABSENT_CODES.has(codeOf(error)) ? [] : undefined;
  }
}

/** Undefined if the file holds no call, is unreadable, or does not exist. */
export function readKept(outbox: string, name: string): KeptCall | undefined {
  const opened = openKept(outbox, name);
  return opened.kind === 'call' ? opened.call : undefined;
}

/** `unreadable` is separate, because such a file may hold an acknowledged message and be readable later. */
export type OpenedKept =
  | { readonly kind: 'call'; readonly call: KeptCall }
  | { readonly kind: 'gone' }
  | { readonly kind: 'corrupt' }
  | { readonly kind: 'unreadable'; readonly code: string };

export function openKept(outbox: string, name: string): OpenedKept {
  const path = join(outbox, name);
  try {
    if (statSync(path).size > OUTBOX_LIMITS.callBytes) return { kind: 'corrupt' };
    const call = fieldsInJson(readFileSync(path, 'utf8'));
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

/** Moves an undeliverable file aside for a person. Only the newest files are kept. */
export function setAsideKept(outbox: string, name: string, why: 'corrupt' | 'refused', content?: string): void {
  const folder = join(outbox, why);
  makeFolder(folder);
  const target = join(folder, `${Date.now()}-${name}`);
  // If the disk is full, there is no room for a copy, but the file can be moved.
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

function findObstacle(outbox: string, text: string): string | undefined {
  if (Buffer.byteLength(text) > OUTBOX_LIMITS.callBytes) return `it is larger than ${OUTBOX_LIMITS.callBytes} bytes`;
  return listKept(outbox).length < OUTBOX_LIMITS.calls
    ? undefined
    : `the outbox is full (${OUTBOX_LIMITS.calls} calls)`;
}

function writeDraft(draft: string, text: string): void {
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** A link fails if its name is taken, so of two concurrent calls one comes after the other. */
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
/** Errors after which the same read may succeed later. */
const SHORTAGE_CODES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY', 'EIO', 'ESTALE']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isKeptCall(call: object): call is KeptCall {
  const { v, operation, input, key, token, keptAt, projectPath }: Partial<Record<keyof KeptCall, unknown>> = call;
  const texts = [operation, input, key, token, keptAt, projectPath ?? ''];
  return v === 1 && projectPath !== undefined && texts.every((text) => typeof text === 'string');
}
