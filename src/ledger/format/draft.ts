import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import { mayHoldCredential, redactJson } from '../redact.ts';
import { canonicalJson, type JsonObject } from './canonical-json.ts';
import { isActor, isSeq, isType, renderEnvelope } from './entry.ts';
import { LEDGER_LIMITS, refuse } from './limits.ts';
import { hasOwnNumber, isTaskNumbers, renderTaskNumbers, type TaskNumbers } from './task-numbers.ts';

/** A request to record an entry. Sequence number, link and time are added by the commit. */
export interface Draft {
  readonly actor: string;
  readonly type: string;
  /** The sequence number of the causing entry, or `{ draft: i }` for the i-th draft (from 0) of the same call. */
  readonly cause?: number | null | { readonly draft: number };
  readonly data: JsonObject;
  /** The numbers that make it an entry of version 2; empty if it is about no task. Version 1 has none. */
  readonly tasks?: TaskNumbers;
}

export interface PreparedDraft extends Required<Omit<Draft, 'tasks'>>, Pick<Draft, 'tasks'> {
  readonly dataText: string;
  /** The approximate size of the entry; near the limit never below the real size. */
  readonly bytes: number;
}

export interface DraftPosition {
  readonly position: number;
  readonly size: number;
  readonly secrets?: readonly string[];
}

/** Checks and redacts a draft. An accepted draft cannot make a commit fail that other callers share. */
export function prepareDraft(draft: Draft, place: DraftPosition): Parsed<PreparedDraft> {
  const text = renderDraft(draft, place);
  return text.ok ? screenDraft(draft, text.value, place.secrets ?? []) : text;
}

export function renderDraft({ actor, type, cause = null, data, tasks }: Draft, place: DraftPosition): Parsed<string> {
  if (!isActor(actor)) return badDraft('actor', 'the actor is not session:…, operator:… or system:…');
  if (!isType(type)) return badDraft('type', 'the type is not in PascalCase, such as TaskClaimed');
  if (!isCause(cause, place)) return badDraft('cause', 'the cause is not an earlier entry');
  if (tasks !== undefined && !(isTaskNumbers(tasks, Number.MAX_SAFE_INTEGER) && hasOwnNumber(tasks, data)))
    return badDraft('tasks', 'the numbers within the tasks of the entry are wrong');
  return renderData(data);
}

export function screenDraft(draft: Draft, text: string, secrets: readonly string[]): Parsed<PreparedDraft> {
  const { actor, type, cause = null, tasks } = draft;
  let { data } = draft;
  let dataText = text;
  if (mayHoldCredential(text, secrets)) {
    data = redactJson(data, secrets);
    const redacted = renderData(data);
    if (!redacted.ok) return redacted;
    dataText = redacted.value;
  }
  const bytes = byteBound(type, actor, dataText) + (tasks === undefined ? 0 : renderTaskNumbers(tasks).length);
  if (bytes > LEDGER_LIMITS.entryBytes) {
    return refuse(
      'ledger/entry-too-large',
      `entry too large: about ${bytes} bytes > ${LEDGER_LIMITS.entryBytes} bytes maximum`,
      'Store the large part as a blob, and its name in the entry.',
      'data',
    );
  }
  return accepted({ actor, type, cause, data, dataText, bytes, ...(tasks === undefined ? {} : { tasks }) });
}

/** The envelope is level 1 of an entry, so data starts at level 2. */
function renderData(data: JsonObject): Parsed<string> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return badDraft('data', 'data is not an object');
  }
  return canonicalJson(data, 'integers', 2);
}

function isCause(cause: unknown, { position, size }: DraftPosition): boolean {
  if (cause === null) return true;
  if (typeof cause === 'number') return isSeq(cause) && cause <= size;
  return (
    typeof cause === 'object' &&
    'draft' in cause &&
    typeof cause.draft === 'number' &&
    Number.isInteger(cause.draft) &&
    cause.draft >= 0 &&
    cause.draft < position
  );
}

const LONGEST = {
  v: 2,
  project: 'x'.repeat(64),
  seq: Number.MAX_SAFE_INTEGER,
  prev: 'x'.repeat(64),
  at: 'x'.repeat(24),
  actor: '',
  type: '',
  cause: Number.MAX_SAFE_INTEGER,
} as const;
const ENVELOPE_BYTES = renderEnvelope(LONGEST, '').length;
const encoder = new TextEncoder();

function byteBound(type: string, actor: string, data: string): number {
  const around = ENVELOPE_BYTES + type.length + actor.length;
  // A UTF-16 unit takes at most three bytes in UTF-8, so only sizes near the limit are counted exactly.
  const most = around + 3 * data.length;
  return most <= LEDGER_LIMITS.entryBytes ? around + data.length : around + encoder.encode(data).length;
}

function badDraft(path: string, what: string): Parsed<never> {
  return refuse('ledger/bad-draft', what, 'This is a bug in the caller, not in the ledger.', path);
}
