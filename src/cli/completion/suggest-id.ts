import type { Answer, ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { findNearest } from '../../protocol/shape/problem.ts';
import { ID_KINDS, type IdKind, readKnownIds, WAITED_KINDS } from './known-ids.ts';

/** Adds to "there is no task T9" the id that was probably meant, or the kind of thing that has this id. */
export async function suggestId<A extends Answer>(answer: A, call: Client['call']): Promise<A | Refused> {
  const missing = answer.ok ? undefined : parseMissing(answer.error);
  if (answer.ok || missing === undefined) return answer;
  const known = await Promise.all(
    ID_KINDS.map(async (kind) => ({ kind, ids: await readKnownIds(kind, call, { all: true }) })),
  );
  const suggestion = findSuggestion(missing, known);
  if (suggestion === undefined) return answer;
  return { ok: false, error: { ...answer.error, hint: `${suggestion} ${answer.error.hint}`.trim() } };
}

type Refused = Extract<Answer, { ok: false }>;

interface MissingId {
  /** `run`: a task, a pipeline or an agent. */
  readonly kind: IdKind | 'run';
  readonly id: string;
}

function parseMissing({ code, message }: ApiError): MissingId | undefined {
  const [, id] = /^there is no (?:\w+|task, pipeline or agent) (\S+)$/.exec(message) ?? [];
  const kind = ([...ID_KINDS, 'run'] as const).find((each) => code === `no-such-${each}`);
  return kind === undefined || id === undefined ? undefined : { kind, id };
}

/** Exported for its test. */
export function findSuggestion(
  { kind, id }: MissingId,
  known: readonly { readonly kind: IdKind; readonly ids: readonly string[] }[],
): string | undefined {
  const other = known.find(({ ids, kind: each }) => each !== kind && ids.some((one) => isSame(each, one, id)));
  if (other !== undefined) {
    const article = other.kind === 'agent' ? 'an' : 'a';
    return `It is ${article} ${other.kind}: baton ${other.kind} show ${id}.`;
  }
  const fitting = known.filter((each) => each.kind === kind || (kind === 'run' && WAITED_KINDS.includes(each.kind)));
  const [nearest] = fitting.flatMap((each) => findNearest(each.kind === 'task' ? id : id.slice(0, 8), each.ids) ?? []);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?`;
}

/** Random ids may be shortened. Four characters are enough to avoid accidental matches. */
function isSame(kind: IdKind, known: string, typed: string): boolean {
  if (kind === 'task') return known === typed;
  return typed.length >= 4 && (known.startsWith(typed) || typed.startsWith(known));
}
