import { EntryFilter, type EntryQuery } from '../../ledger/entry-filter.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import { taskIdOf } from '../../ledger/verify/task-proof.ts';
import { meantSuffix } from '../../protocol/shape/problem.ts';
import { parseDuration } from '../../runbook/shape/fields.ts';
import type { ParsedArguments, UsageError } from '../command.ts';

interface LogQuery extends Pick<EntryQuery, 'task_id' | 'types' | 'actor'> {
  readonly sinceMs?: number;
  /** Whether the query has no condition. */
  readonly isAll: boolean;
}

/** Refuses types that no entry can have, because the log would be empty without a reason. */
export function parseLogQuery(
  { options }: ParsedArguments,
  { nowMs, entryTypes }: { readonly nowMs: number; readonly entryTypes: readonly string[] },
): LogQuery | UsageError {
  const [task, typed, actor, since] = ['task', 'type', 'actor', 'since'].map((name) => options.get(name));
  const types = typed?.split(',').map((type) => type.trim());
  const unknown = types?.find((type) => !entryTypes.includes(type));
  if (unknown !== undefined)
    return { usage: `--type: no entry has the type ${unknown}${meantSuffix(unknown, entryTypes)}` };
  const sinceMs = since === undefined ? undefined : parseSince(since, nowMs);
  if (sinceMs !== undefined && Number.isNaN(sinceMs))
    return { usage: `--since must be an age such as 90m, 2h or 3d, or a time such as 2026-11-18T09:30Z, not ${since}` };
  return {
    ...(task === undefined ? {} : { task_id: task }),
    ...(types === undefined ? {} : { types }),
    ...(actor === undefined ? {} : { actor }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    isAll: [task, types, actor, sinceMs].every((each) => each === undefined),
  };
}

function parseSince(text: string, nowMs: number): number {
  const age = parseDuration(text);
  if (!Number.isNaN(age)) return nowMs - age;
  // Other texts that `Date` accepts, such as plain numbers, mean something else to most people.
  return /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?$/.test(text) ? Date.parse(text) : Number.NaN;
}

/**
 * An `EntryFilter` plus a time. Collects the tasks and actors of the ledger, to suggest what was probably meant if no
 * entry matches.
 */
export class LogFilter {
  readonly #entries: EntryFilter;
  readonly #query: LogQuery;
  readonly #sinceMs: number;
  readonly #tasks = new Set<string>();
  readonly #actors = new Set<string>();

  constructor(query: LogQuery) {
    this.#entries = new EntryFilter(query);
    this.#query = query;
    this.#sinceMs = query.sinceMs ?? -Infinity;
  }

  accepts(entry: Entry, text: () => string): boolean {
    const task = taskIdOf(entry.data);
    if (task !== undefined) this.#tasks.add(task);
    this.#actors.add(entry.actor).add(entry.actor.split(':', 1)[0] ?? '');
    // The filter must see every entry, even older ones, because they show which agents and decisions belong to a task.
    return this.#entries.accepts(entry, text) && Date.parse(entry.at) >= this.#sinceMs;
  }

  /** The message if no entry matched. */
  describeNone(): string {
    const { task_id: task, actor } = this.#query;
    if (task !== undefined && !this.#tasks.has(task))
      return `No entry is about task ${task}${meantSuffix(task, [...this.#tasks])}.`;
    if (actor !== undefined && !this.#actors.has(actor))
      return `No entry has the actor ${actor}${meantSuffix(actor, [...this.#actors])}.`;
    return 'No entry matches.';
  }
}
