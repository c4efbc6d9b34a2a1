import type { Json, JsonObject } from './format/canonical-json.ts';
import type { Entry } from './format/entry.ts';

/** The filter of a reader of the ledger; an entry must match every field that is set. */
export interface EntryQuery {
  readonly types?: readonly string[];
  readonly task_id?: string;
  /** The id of an agent or a pipeline. */
  readonly run_id?: string;
  /** An actor, or a kind of actor: `operator`, `session`, `system`. */
  readonly actor?: string;
  /** A text anywhere in the entry, ignoring case. */
  readonly text?: string;
}

/**
 * Selects entries of a run: those that name the run, what runs inside it, or a decision about one of them. Selects
 * entries of a task: those that name the task, and those of its agents, pipelines and decisions, whose ids the filter
 * learns from accepted entries. `known` has the ids of those that began before the first accepted entry.
 */
export class EntryFilter {
  readonly #types: ReadonlySet<string> | undefined;
  readonly #actor: string | undefined;
  readonly #text: string | undefined;
  readonly #task: { readonly id: string; readonly related: Set<string> } | undefined;
  readonly #run: Set<string> | undefined;

  constructor({ types, task_id, run_id, actor, text }: EntryQuery, known: Iterable<string> = []) {
    this.#types = types === undefined ? undefined : new Set(types);
    this.#actor = actor;
    this.#text = text === undefined ? undefined : JSON.stringify(text).slice(1, -1).toLowerCase();
    this.#task = task_id === undefined ? undefined : { id: task_id, related: new Set(known) };
    this.#run = run_id === undefined ? undefined : new Set([run_id, ...known]);
  }

  /** `text` is the canonical text of the entry. */
  accepts({ type, actor, data }: Pick<Entry, 'type' | 'actor' | 'data'>, text: () => string): boolean {
    // These checks come first, because they learn from every entry.
    if (!this.#isOfTask(data) || !this.#isOfRun(data)) return false;
    if (this.#types?.has(type) === false) return false;
    if (this.#actor !== undefined && actor !== this.#actor && !actor.startsWith(`${this.#actor}:`)) return false;
    return this.#text === undefined || text().toLowerCase().includes(this.#text);
  }

  #isOfTask(data: JsonObject): boolean {
    if (this.#task === undefined) return true;
    const { id, related } = this.#task;
    const parts = [data, ...NESTED.map((name) => data[name])].filter(isJsonObject);
    const refs = parts.flatMap(refsIn);
    const isNamed = parts.some(({ task_id }) => task_id === id);
    if (!isNamed && !refs.some((ref) => related.has(ref))) return false;
    for (const ref of refs) related.add(ref);
    return true;
  }

  #isOfRun(data: JsonObject): boolean {
    const related = this.#run;
    if (related === undefined) return true;
    const isInside = NESTED.some(
      (name) => isJsonObject(data[name]) && refsIn(data[name]).some((ref) => related.has(ref)),
    );
    if (!isInside && !refsIn(data).some((ref) => related.has(ref))) return false;
    // The ids of an enclosing run are not learned, because it has other agents too.
    const learned = isInside ? refsIn(data) : [data['decision_id']].filter((ref) => typeof ref === 'string');
    for (const ref of learned) related.add(ref);
    return true;
  }
}

function refsIn(part: JsonObject): readonly string[] {
  return REFS.map((name) => part[name]).filter((ref) => typeof ref === 'string');
}

/** Fields with the id of an agent, pipeline, decision or command; `NESTED` lists the objects in which they may be. */
const REFS = ['agent_id', 'pipeline_id', 'decision_id', 'command_id'] as const;
const NESTED = ['task', 'owner', 'parent', 'subject', 'purpose'] as const;

function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
