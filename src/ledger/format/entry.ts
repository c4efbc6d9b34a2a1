import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import { isObject } from '../../protocol/shape/read-unknown.ts';
import { type JsonObject, NotCanonical, renderCanonical } from './canonical-json.ts';
import { LEDGER_LIMITS, refuse } from './limits.ts';
import { hasOwnNumber, isTaskId, isTaskNumbers, renderTaskNumbers, type TaskNumbers } from './task-numbers.ts';

/** One recorded event. The hash covers every field. */
export interface Entry {
  readonly v: 1 | 2;
  readonly project: string;
  readonly seq: number;
  /** The hash of the previous entry in hex; 64 zeros for the first entry. */
  readonly prev: string;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly cause: number | null;
  readonly data: JsonObject;
  /** Version 2 has it, version 1 does not: so the last number of a task tells how many entries it has. */
  readonly tasks?: TaskNumbers;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses stored bytes, which must be canonical: another spelling of the same entry has another hash. */
export function parseEntry(bytes: Uint8Array): Parsed<Entry> {
  const raw = parseRawEntry(bytes);
  return raw.ok ? checkRawEntry(raw.value) : raw;
}

export interface RawEntry {
  readonly text: string;
  readonly value: unknown;
}

export function parseRawEntry(bytes: Uint8Array): Parsed<RawEntry> {
  if (bytes.length > LEDGER_LIMITS.entryBytes) return notAnEntry(`it is larger than ${LEDGER_LIMITS.entryBytes} bytes`);
  try {
    const text = decoder.decode(bytes);
    return accepted({ text, value: JSON.parse(text) });
  } catch {
    return notAnEntry('it is not JSON in UTF-8');
  }
}

export interface ExpectedLink {
  readonly project: string;
  readonly prev: string;
}

export function checkRawEntry({ text, value }: RawEntry, known?: ExpectedLink): Parsed<Entry> {
  const entry = parseEnvelope(value, known);
  if (!entry.ok) return entry;
  // Rejects unknown fields, another key order, spaces and unusual escapes: an entry has exactly one text.
  return isTextOf(entry.value, text) ? entry : notAnEntry('its bytes are not canonical JSON');
}

/** Reads the fields of the envelope and ignores others; comparing the texts finds those. */
function parseEnvelope(value: unknown, known: ExpectedLink | undefined): Parsed<Entry> {
  if (!isObject(value)) return notAnEntry('it is not an object');
  const { v, project, seq, prev, at, actor, type, cause, data, tasks } = value;
  if (v !== 1 && v !== 2) return notAnEntry('v is not 1 or 2');
  if ((!known || project !== known.project) && !isProject(project)) return notAnEntry('project is not a project id');
  if (!isSeq(seq)) return notAnEntry('seq is not a number from 1');
  if ((!known || prev !== known.prev) && !isPrev(prev)) return notAnEntry('prev is not a hash in hex');
  if (!isTime(at)) return notAnEntry('at is not a time in UTC with milliseconds');
  if (!isActor(actor)) return notAnEntry('actor is not session:…, operator:… or system:…');
  if (!isType(type)) return notAnEntry('type is not in PascalCase');
  if (cause !== null && (!isSeq(cause) || cause >= seq)) return notAnEntry('cause is not an earlier entry');
  if (!isJsonObject(data)) return notAnEntry('data is not an object');
  // Keys in canonical order, so that the entry prints as it was hashed.
  if (v === 1) return accepted({ actor, at, cause, data, prev, project, seq, type, v });
  if (!isTaskNumbers(tasks, seq)) return notAnEntry('tasks is not the number within each task');
  if (!hasOwnNumber(tasks, data)) return notAnEntry('it has no number within the task that it names');
  return accepted({ actor, at, cause, data, prev, project, seq, tasks, type, v });
}

function isTextOf(entry: Entry, text: string): boolean {
  try {
    return renderEntry(entry) === text;
  } catch (error) {
    if (error instanceof NotCanonical) return false;
    throw error;
  }
}

/** Renders an entry. The sorted order of keys is fixed here, because an append must not sort nine names each time. */
export function renderEntry(entry: Entry): string {
  return renderEnvelope(entry, renderCanonical(entry.data, 2, true));
}

export function renderEnvelope(entry: Omit<Entry, 'data'>, data: string): string {
  const numbers = entry.v === 1 ? '' : `"tasks":${renderTaskNumbers(entry.tasks ?? {})},`;
  // No field value can contain a character that needs an escape.
  return `{"actor":"${entry.actor}","at":"${entry.at}","cause":${entry.cause},"data":${data},"prev":"${entry.prev}","project":"${entry.project}","seq":${entry.seq},${numbers}"type":"${entry.type}","v":${entry.v}}`;
}

function isPrev(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** Project ids appear in file names and key names, so they have the same form as task ids. */
export function isProject(value: unknown): value is string {
  return isTaskId(value);
}

export function isActor(value: unknown): value is string {
  if (value === goodActor) return true;
  if (typeof value !== 'string' || !/^(session|operator|system):[A-Za-z0-9._@:/-]{1,128}$/.test(value)) return false;
  goodActor = value;
  return true;
}

export function isType(value: unknown): value is string {
  if (value === goodType) return true;
  if (typeof value !== 'string' || !/^[A-Z][A-Za-z0-9]{0,63}$/.test(value)) return false;
  goodType = value;
  return true;
}

export function isSeq(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

/** Caches the last valid actor: consecutive entries often share it, so millions of reads pay for one check. */
let goodActor = 'system:baton';
let goodType = 'KeyAdded';
let goodTime = '';

function isTime(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  if (value === goodTime) return true;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return false;
  const time = Date.parse(value);
  // `Date.parse` accepts February 30 as a day in March; only a valid time survives the round trip.
  if (Number.isNaN(time) || new Date(time).toISOString() !== value) return false;
  goodTime = value;
  return true;
}

/** The value comes from a JSON parser, so its content is JSON. */
function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function notAnEntry(what: string): Parsed<never> {
  return refuse(
    'ledger/bad-entry',
    `this is not an entry: ${what}`,
    'Run `baton ledger verify` to see where it starts.',
  );
}
