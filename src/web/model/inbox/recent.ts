import { isOver } from '../../../protocol/phase.ts';
import { accountKey } from '../../../state/runs/accounts.ts';
import type { AgentRun } from '../../../state/runs/agent-run.ts';
import type { Decision } from '../../../state/runs/decision.ts';
import { excerptStart } from '../../../state/runs/excerpt.ts';
import type { PipelineRun } from '../../../state/runs/pipeline-run.ts';
import { agentSpending } from '../../../state/runs/spent.ts';
import type { State } from '../../../state/state.ts';
import type { Task } from '../../../state/tasks/task.ts';
import type { Span } from '../../../state/timeline/timeline.ts';

/** Ended work, or a settled decision. */
export interface RecentItem {
  readonly kind: 'task' | 'pipeline' | 'agent' | 'decision';
  readonly id: string;
  readonly title: string;
  /** Whether the task went through the built-in workflow. */
  readonly isWorkflow: boolean;
  readonly state: string;
  /** When it ended. */
  readonly at: string;
  /** The reason of a failure, or the answer of a decision. */
  readonly note: string | null;
  /** Null for a decision. */
  readonly costMillicents: number | null;
}

/** Lists what ended last, newest first. */
export function listRecent(state: State, { most }: { readonly most: number }): readonly RecentItem[] {
  const newest = new Newest(most);
  for (const [id, { spans }] of state.timelines) {
    const last = spans.at(-1);
    if (last !== undefined && isOver(last.activity)) newest.add(last.from, () => taskItem(state, id, last));
  }
  for (const run of state.pipelines.values())
    if (run.endedAt !== null && run.parent === null && isListed(run))
      newest.add(run.endedAt, () => pipelineItem(run, run.endedAt ?? ''));
  for (const run of state.agents.values()) {
    const at = run.exit?.at ?? run.since;
    if (run.over !== null && run.owner === null && isListed(run)) newest.add(at, () => agentItem(run, at));
  }
  for (const decision of state.decisions.values())
    if (decision.result !== null) newest.add(decision.result.at, () => decisionItem(decision));
  return newest.list();
}

/** Excludes a run that did its part of a task, because the task has its own row. */
function isListed({ task, outcome }: Pick<AgentRun, 'task' | 'outcome'>): boolean {
  return task === null || outcome !== 'done';
}

/**
 * Keeps the newest few of many without sorting all: thousands of tasks may have ended, and the list is made again with
 * every entry.
 */
class Newest {
  readonly #most: number;
  #kept: { readonly at: string; readonly make: () => RecentItem | undefined }[] = [];
  #oldest = '';

  constructor(most: number) {
    this.#most = most;
  }

  add(at: string, make: () => RecentItem | undefined): void {
    if (at < this.#oldest) return;
    this.#kept.push({ at, make });
    if (this.#kept.length >= 2 * this.#most) this.#trim();
  }

  list(): readonly RecentItem[] {
    this.#trim();
    return this.#kept.flatMap(({ make }) => make() ?? []);
  }

  #trim(): void {
    this.#kept = this.#kept.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)).slice(0, this.#most);
    if (this.#kept.length === this.#most) this.#oldest = this.#kept.at(-1)?.at ?? '';
  }
}

function taskItem(state: State, id: string, { activity, from }: Span): RecentItem | undefined {
  const task = state.tasks.get(id);
  if (task === undefined) return undefined;
  return {
    kind: 'task',
    id,
    title: task.title,
    isWorkflow: task.flow.mode !== null,
    state: activity === 'done' && task.flow.mergeSha !== null ? 'merged' : activity,
    at: from,
    note: noteOf(task),
    costMillicents: state.accounts.get(accountKey('task', id))?.cost_millicents ?? 0,
  };
}

function noteOf({ blocked }: Task): string | null {
  // The prefix is removed, because the state shows that the task is cancelled.
  return blocked === null ? null : shorten(blocked.reason.replace(/^cancelled: /, ''));
}

function pipelineItem({ id, name, outcome, reason, spent }: PipelineRun, at: string): RecentItem {
  const note = outcome === 'done' || reason === null ? null : shorten(reason);
  const state = outcome ?? 'done';
  return {
    kind: 'pipeline',
    id,
    title: name,
    isWorkflow: false,
    state,
    at,
    note,
    costMillicents: spent.cost_millicents,
  };
}

function agentItem(run: AgentRun, at: string): RecentItem {
  const { id, plan, outcome, reason } = run;
  const note = outcome === 'done' || reason === null ? null : shorten(reason);
  const costMillicents = agentSpending(run).cost_millicents;
  return { kind: 'agent', id, title: plan.name, isWorkflow: false, state: outcome ?? 'done', at, note, costMillicents };
}

function decisionItem({ id, title, options, result }: Decision): RecentItem | undefined {
  if (result === null) return undefined;
  const note =
    result.kind === 'resolved'
      ? `${options[result.option - 1]?.label ?? result.action}, by ${result.by}`
      : shorten(result.reason);
  const { kind: state, at } = result;
  return { kind: 'decision', id, title, isWorkflow: false, state, at, note, costMillicents: null };
}

const SHOWN_CHARACTERS = 200;

function shorten(text: string): string {
  return excerptStart(text, SHOWN_CHARACTERS);
}
