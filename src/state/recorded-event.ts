import type { JsonObject } from '../ledger/format/canonical-json.ts';
import type { Draft } from '../ledger/format/draft.ts';
import type { Entry } from '../ledger/format/entry.ts';
import { VIOLATION_KINDS, type ViolationKind } from '../protocol/agent-session-completed.ts';
import { LEDGER_LEVEL } from '../protocol/fleet.ts';
import { splitActor } from './caller.ts';
import { compileMisfitFinder, type Misfit, type MisfitFinder } from '../protocol/shape/find-misfit.ts';
import {
  type Event,
  EVENTS,
  type EventType,
  type MoveCause,
  type RecordedEvent,
  type SettledRequest,
} from './event.ts';

/**
 * Thrown if an entry's data does not have the fields of its type, or its numbers do not follow: another program or a
 * later version wrote it.
 */
export class UnreadableEntry extends Error {
  readonly seq: number;

  constructor({ seq, type }: Pick<Entry, 'seq' | 'type'>, wrong: Misfit | string) {
    super(`entry ${seq} (${type}) cannot be read: ${typeof wrong === 'string' ? wrong : describeMisfit(wrong)}`);
    this.seq = seq;
  }
}

function describeMisfit({ path, expected }: Misfit): string {
  return `data${path === '' ? '' : `.${path}`} is not ${expected}`;
}

/** Compiled on first use, because commands that open no ledger do not need them. */
const finders = new Map<string, MisfitFinder>();

function findMisfit(type: EventType, data: unknown): Misfit | undefined {
  let find = finders.get(type);
  if (find === undefined) {
    find = compileMisfitFinder({ kind: 'object', fields: EVENTS[type] });
    finders.set(type, find);
  }
  return find(data);
}

function isFolded(type: string): type is EventType {
  return Object.hasOwn(EVENTS, type);
}

/** The types of entries that only the ledger reads. All other types are in `EVENTS`. */
const LEDGER_TYPES: ReadonlySet<string> = new Set(['OutsideCheckpointMissing']);

/** Every type that an entry of this version can have. */
export const ENTRY_TYPES: readonly string[] = [...Object.keys(EVENTS), ...LEDGER_TYPES];

/**
 * Returns the type of an entry that a later version wrote. A daemon that finds one must not decide, because its state
 * would be incomplete.
 */
export function findUnknownType({ type, data }: Pick<Entry, 'type' | 'data'>): string | undefined {
  const level = type === 'LevelRaised' ? Number(data['level']) : 0;
  if (level > LEDGER_LEVEL) return `LevelRaised to ${level}`;
  return isFolded(type) || LEDGER_TYPES.has(type) ? undefined : type;
}

/**
 * Converts an entry to fold; undefined for types of the ledger, and for unknown ones (`findUnknownType`). Throws
 * `UnreadableEntry` if the data does not fit its type.
 */
export function toRecordedEvent(entry: Entry): RecordedEvent | undefined {
  const { type, seq, at } = entry;
  if (!isFolded(type)) return undefined;
  const written = upcast(entry);
  const misfit = findMisfit(type, written);
  if (misfit !== undefined) throw new UnreadableEntry(entry, misfit);
  // Few entries settle a command, so the others' data is not copied, which would take longer than the check.
  if (written['settles'] === undefined)
    return { type, data: written, seq, at, ...splitActor(entry.actor) } as unknown as RecordedEvent; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const { settles, ...data } = written;
  return { type, data, seq, at, ...splitActor(entry.actor), settles } as unknown as RecordedEvent; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Converts an event to a draft. The settled command is part of its data, so that the hash covers it. */
export function toLedgerDraft(
  event: Event,
  actor: string,
  settles: SettledRequest | undefined,
  { cause, tasks }: Pick<Draft, 'cause' | 'tasks'> = {},
): Draft {
  const data = { ...event.data, ...(settles === undefined ? {} : { settles }) };
  const because = cause === undefined ? {} : { cause };
  const numbers = tasks === undefined ? {} : { tasks };
  return { actor, type: event.type, ...because, data: data as unknown as JsonObject, ...numbers }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/**
 * Patterns for the cause of entries from before causes were typed. This table is the only place that derives meaning
 * from text. It checks the actor, because sessions chose the text of their own entries.
 */
const CAUSE_PATTERNS: readonly { readonly actor: string; readonly reason: string; readonly cause: MoveCause }[] = [
  { actor: 'operator:', reason: 'cancelled: ', cause: 'cancelled' },
  { actor: 'operator:', reason: 'waived: ', cause: 'waived' },
  { actor: 'system:', reason: 'decision: ', cause: 'decision' },
  { actor: 'system:', reason: 'merge refused: ', cause: 'merge-refused' },
  { actor: 'system:', reason: 'merge failed: ', cause: 'merge-failed' },
  { actor: 'system:', reason: 'merged as ', cause: 'merged' },
  { actor: 'system:', reason: 'check failed: ', cause: 'checks' },
  { actor: 'system:', reason: 'all required checks passed', cause: 'checks' },
  { actor: 'system:', reason: 'no pull request: ', cause: 'publish-failed' },
];

/** Adds to an entry's data the typed fields that its type has today. */
export function upcast({ type, actor, data }: Pick<Entry, 'type' | 'actor' | 'data'>): JsonObject {
  if (type === 'PhaseMoved' && data['cause'] === undefined)
    return { ...data, cause: deriveCause(actor, data['reason']) };
  if (type === 'SessionMeasured' && data['broken'] === undefined)
    return { ...data, broken: deriveViolations(data['violations']) };
  // Older entries have no principal, so their claims are distinguished by the holder's name.
  if (type === 'TaskClaimed' && data['principal'] === undefined) return { ...data, principal: data['holder'] ?? '' };
  return data;
}

function deriveCause(actor: string, reason: unknown): MoveCause {
  const text = typeof reason === 'string' ? reason : '';
  const known = CAUSE_PATTERNS.find((each) => actor.startsWith(each.actor) && text.startsWith(each.reason));
  return known?.cause ?? 'unrecorded';
}

/** Derives the kinds of violations, which Baton wrote before each text. */
function deriveViolations(violations: unknown): ViolationKind[] {
  const texts = Array.isArray(violations) ? violations.map(String) : [];
  return VIOLATION_KINDS.filter((kind) => texts.some((text) => text.startsWith(`${kind}: `)));
}
