import { fieldOf, fieldsOf, findText, textOf } from '../../protocol/shape/read-unknown.ts';

/** The part of a ledger entry that is used here. */
export interface ReadEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One message or request that an agent received, in the order of the ledger. */
export interface Asked {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly kind: 'prompt' | 'mission' | 'note' | 'resumed' | 'message';
  readonly text: string;
  /** The mission's limits, and the files to read. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** For a message: whether the agent received it. Null for other kinds. */
  readonly delivery: { readonly state: 'queued' | 'delivered' | 'failed'; readonly reason: string | null } | null;
}

/** The types of entry with messages and requests to an agent. Every agent's first entry is an `AgentRequested`. */
export const ASKED_TYPES = [
  'AgentRequested',
  'SessionPrepared',
  'AgentResumeRequested',
  'MessageRequested',
  'MessageDelivered',
] as const;

/** Lists what the agent received, oldest first. Entries of other agents are skipped. */
export function listAsked(entries: readonly ReadEntry[], agentId: string): Asked[] {
  const own = entries.filter(({ data }) => data['agent_id'] === agentId).toSorted((a, b) => a.seq - b.seq);
  const delivered = new Map(
    own.filter(({ type }) => type === 'MessageDelivered').map(({ data }) => [textOf(data['message_id']), data]),
  );
  return own.flatMap((entry) => READERS[entry.type]?.(entry, delivered) ?? []);
}

/** Reports whether the entries go back to the agent's first. */
export function hasFirst(entries: readonly ReadEntry[], agentId: string): boolean {
  return entries.some(({ type, data }) => type === 'AgentRequested' && data['agent_id'] === agentId);
}

type Delivered = ReadonlyMap<string, ReadEntry['data']>;

const READERS: Readonly<Record<string, (entry: ReadEntry, delivered: Delivered) => readonly Asked[]>> = {
  AgentRequested: (entry) => {
    const plan = fieldsOf(entry.data['plan']);
    const file = findText(plan['prompt_file']);
    const prompt = textOf(plan['prompt']);
    const facts = file === undefined ? [] : [['prompt file', file] as const];
    return [
      ...(prompt === '' && file === undefined ? [] : [{ ...ask(entry, 'prompt', prompt), facts }]),
      ...askIfSaid(entry, 'note', entry.data['note']),
    ];
  },
  SessionPrepared: (entry) => {
    const mission = fieldsOf(entry.data['mission']);
    return [{ ...ask(entry, 'mission', textOf(mission['instruction'])), facts: listFacts(mission) }];
  },
  AgentResumeRequested: (entry) => askIfSaid(entry, 'resumed', entry.data['message']),
  MessageRequested: (entry, delivered) => {
    const found = delivered.get(textOf(entry.data['message_id']));
    const state = found === undefined ? 'queued' : found['ok'] === true ? 'delivered' : 'failed';
    const reason = findText(fieldOf(found, 'reason')) ?? null;
    return [{ ...ask(entry, 'message', textOf(entry.data['text'])), delivery: { state, reason } }];
  },
};

function ask({ seq, at, actor }: ReadEntry, kind: Asked['kind'], text: string): Asked {
  return { seq, at, actor, kind, text, facts: [], delivery: null };
}

function askIfSaid(entry: ReadEntry, kind: Asked['kind'], text: unknown): Asked[] {
  return typeof text === 'string' && text !== '' ? [ask(entry, kind, text)] : [];
}

/** Lists facts; `context.epic_file` is shown as `epic file`. */
function listFacts(mission: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  const parts = [fieldsOf(mission['constraints']), { timeout: mission['timeout'] }, fieldsOf(mission['context'])];
  return parts
    .flatMap((part) => Object.entries(part))
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number' || value === true)
    .map(([name, value]) => [name.replaceAll('_', ' '), value === true ? 'yes' : String(value)] as const);
}
