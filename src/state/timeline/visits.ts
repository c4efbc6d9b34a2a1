import { ACTIVITIES, type Activity, isOver } from '../../protocol/phase.ts';
import type { Phase } from '../../protocol/phase.ts';
import { stageName } from './evolve-timeline.ts';
import { type Span, spanMs, type Timeline } from './timeline.ts';

export type Times = Readonly<Partial<Record<Activity, number>>>;

/** The time that a task spent at a stage, with everything that happened there. */
export interface Visit {
  /** A role, `ci`, `merge`, or a phase if the task has no roles. */
  readonly stage: string;
  readonly role: string | null;
  readonly phase: Phase;
  readonly round: number;
  /** The holder of its newest claim. */
  readonly holder: string | null;
  readonly epoch: number | null;
  readonly from: string;
  /** Null while the visit lasts. */
  readonly to: string | null;
  /** The newest activity. */
  readonly activity: Activity;
  /** How its newest claim, checks or merge ended; null before that. */
  readonly outcome: string | null;
  readonly ms: Times;
}

/** Lists visits, oldest first. A retry at the same stage, even after a block, belongs to the same visit. */
export function listVisits({ spans }: Timeline, now: string): readonly Visit[] {
  const visits: Visit[] = [];
  for (const [i, span] of spans.entries()) {
    const { activity, from } = span;
    if (isOver(activity)) continue;
    const next = spans[i + 1];
    const ms = spanMs(from, next?.from ?? now);
    const open = visits.at(-1);
    if (open?.to === from && open.stage === stageName(span)) visits[visits.length - 1] = extend(open, span, next, ms);
    else visits.push(begin(span, next, ms));
  }
  return visits;
}

function begin(span: Span, next: Span | undefined, ms: number): Visit {
  const { activity, phase, round, role = null, holder = null, epoch = null, from, outcome = cancelOf(next) } = span;
  const place = { stage: stageName(span), role: span.gate === undefined ? role : null, phase, round };
  return { ...place, holder, epoch, from, to: next?.from ?? null, activity, outcome, ms: { [activity]: ms } };
}

function extend(open: Visit, span: Span, next: Span | undefined, ms: number): Visit {
  const { activity, phase, holder = open.holder, epoch = open.epoch, outcome = open.outcome ?? cancelOf(next) } = span;
  const sum = (open.ms[activity] ?? 0) + ms;
  return {
    ...open,
    phase,
    holder,
    epoch,
    activity,
    outcome,
    to: next?.from ?? null,
    ms: { ...open.ms, [activity]: sum },
  };
}

function cancelOf(next: Span | undefined): string | null {
  return next?.activity === 'cancelled' ? 'cancelled' : null;
}

/** A stage of a task, with all visits to it. */
export interface Stage {
  readonly name: string;
  readonly status: 'done' | 'failed' | 'now' | 'ahead';
  /** The number of visits; 0 if the stage was not reached yet. */
  readonly visits: number;
  readonly activity: Activity | null;
  readonly outcome: string | null;
  readonly ms: Times;
}

/** The built-in workflow, in order. The fixer works only if there are findings. */
const WORKFLOW = [
  'issue-manager',
  'prep',
  'implementer',
  'ci',
  'reviewer',
  'fixer',
  'validator',
  'merge',
  'closer',
] as const;

/**
 * The stages that a task has visited, and for a workflow those that it has yet to visit, in the order of the workflow.
 */
export function listStages(
  visits: readonly Visit[],
  { isWorkflow, hasChecks }: { readonly isWorkflow: boolean; readonly hasChecks: boolean },
): readonly Stage[] {
  const byName = Map.groupBy(isWorkflow ? visits.filter((visit) => !isBefore(visit)) : visits, ({ stage }) => stage);
  const stages = [...byName].map(([name, those]) => visitedStage(name, those));
  const current = visits.at(-1);
  if (!isWorkflow) return stages;
  const ahead = current?.to === null ? stagesAfter(current.stage) : [];
  const unseen = ahead.filter((name) => !byName.has(name) && (name !== 'ci' || hasChecks));
  const all = [...stages, ...unseen.map((name): Stage => ({ name, ...NOT_YET }))];
  return all.toSorted((a, b) => positionOf(a.name) - positionOf(b.name));
}

/**
 * Reports whether the visit was in the backlog, before the task became a workflow: it waited without a role and without
 * a claim.
 */
export function isBefore({ stage, phase, epoch, to }: Visit): boolean {
  return stage === phase && epoch === null && to !== null;
}

const NOT_YET = { status: 'ahead', visits: 0, activity: null, outcome: null, ms: {} } as const;

function visitedStage(name: string, visits: readonly Visit[]): Stage {
  const ms: Partial<Record<Activity, number>> = {};
  for (const visit of visits)
    for (const activity of ACTIVITIES)
      if (visit.ms[activity] !== undefined) ms[activity] = (ms[activity] ?? 0) + visit.ms[activity];
  const { to = null, activity = null, outcome = null } = visits.at(-1) ?? {};
  const status = to === null ? 'now' : outcome !== null && !GOOD.has(outcome) ? 'failed' : 'done';
  // A person sent the task back before a session began.
  if (to !== null && outcome === null && activity === 'waiting') return { name, ...NOT_YET, visits: visits.length, ms };
  return { name, status, visits: visits.length, activity: to === null ? activity : null, outcome, ms };
}

const GOOD: ReadonlySet<string> = new Set(['completed', 'passed', 'merged']);

/** The stages to come: after the fixer follow the checks and the review again. */
function stagesAfter(name: string): readonly string[] {
  const at = name === 'fixer' ? positionOf('implementer') : positionOf(name);
  return WORKFLOW.filter((each) => each !== 'fixer' && positionOf(each) > at);
}

/** The position of a stage; a role that the runbook adds is placed between review and validation. */
function positionOf(name: string): number {
  const at = WORKFLOW.findIndex((each) => each === name);
  return at === -1 ? WORKFLOW.indexOf('validator') - 0.5 : at;
}
