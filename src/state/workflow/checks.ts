import { SANDBOX_KINDS } from '../../protocol/sandbox.ts';
import { event, type Event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import { excerptEnd } from '../runs/excerpt.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { phaseMovedEvent } from '../tasks/claim-task.ts';
import type { Task } from '../tasks/task.ts';
import { phaseAfterChecks } from './approval.ts';
import type { CheckRun } from './flow.ts';
import { type CheckReport, type JudgedReport, judgeReport, reporterKey } from './judge-report.ts';
import { fixerHandoff } from './gate-handoffs.ts';
import type { CheckOutcome, CheckPlan, WorkflowEvents } from './workflow-event.ts';

/** The outcome of one required check, run by Baton or reported by another system. */
export type FinishCheck = Omit<WorkflowEvents['CheckFinished'], 'task_id' | 'head' | 'reporter'> & {
  /** Absent for a check that Baton ran. */
  readonly report?: CheckReport;
  /** A person accepted the report. */
  readonly isAccepted?: boolean;
  /** The id of the handoff after a failure. */
  readonly handoffId: string;
};

/**
 * Decides the CI gate. If all checks passed, the task is ready for review. If one failed, it goes to the fixer, with
 * the end of the log. If one was cancelled, it waits until that check runs again. Repeated reports, and reports about
 * older checks, change nothing.
 */
export function decideFinishCheck(state: State, command: FinishCheck, rules: Rules): Outcome<null> {
  const task = findChecked(state, command.checks_id);
  const checks = task?.flow.checks;
  if (task === undefined || !checks || checks.outcome !== null) return decided([], null);
  const { handoffId: _, report, isAccepted = false, ...check } = command;
  const { name, outcome } = check;
  const before = checks.outcomes[name];
  const plan = checks.plans.find((each) => each.name === name);
  if (plan === undefined || before === 'passed' || before === 'failed') return decided([], null);
  const about = { checks_id: checks.id, task_id: task.id, head: checks.head };
  const output = check.output === null ? null : excerptEnd(check.output);
  const judged = report === undefined || isAccepted ? 'counts' : judge(state, task, plan, report, rules);
  if (judged === 'ignored') return decided([], null);
  if (judged !== 'counts' && report !== undefined) {
    if (isAskedAbout(checks, name, report)) return decided([], null);
    return decided([event('CheckQuestioned', { ...about, name, outcome, ...report, because: judged, output })], null);
  }
  const reporter = report === undefined ? {} : { reporter: report.reporter };
  const finished = event('CheckFinished', { ...check, ...about, output, ...reporter });
  const whole = outcomeOf(checks, name, outcome);
  if (whole === null) return decided([finished], null);
  const settled = event('ChecksFinished', { ...about, outcome: whole, ...weakestSandbox(checks, check) });
  return decided([finished, settled, ...afterChecks(task, whole, command)], null);
}

/**
 * Reports whether a check is of another repository or app than the required one with its name. Such a report changes
 * nothing, so the operator of a renamed repository finds the reason only in the log.
 */
export function isForeignReport(
  state: State,
  { checks_id, name, report }: Pick<FinishCheck, 'checks_id' | 'name'> & { readonly report: CheckReport },
  rules: Rules,
): boolean {
  const task = findChecked(state, checks_id);
  const plan = task?.flow.checks?.plans.find((each) => each.name === name && each.run === undefined);
  return task !== undefined && plan !== undefined && judge(state, task, plan, report, rules) === 'ignored';
}

/** The outcome is no longer needed: Baton's own checks are stopped, and those at GitHub are no longer polled. */
export function cancelChecks({ id: task_id, flow: { checks } }: Task): Event[] {
  if (checks === null || checks.outcome !== null) return [];
  return [event('ChecksFinished', { checks_id: checks.id, task_id, head: checks.head, outcome: 'cancelled' })];
}

function judge(state: State, { flow }: Task, plan: CheckPlan, report: CheckReport, rules: Rules): JudgedReport {
  // Baton runs the check itself.
  if (plan.run !== undefined) return 'ignored';
  const app = state.reporters.get(reporterKey(plan.name, report.reporter.repository));
  const own = rules.repository ?? flow.pull?.repository;
  return judgeReport(plan, report, { repository: own === '' ? undefined : own, app });
}

/** A person is asked once about the same report, which GitHub may repeat. */
function isAskedAbout({ questions }: CheckRun, name: string, { reporter, conclusion }: CheckReport): boolean {
  const asked = questions?.[name];
  return (
    asked?.conclusion === conclusion &&
    asked.reporter.app === reporter.app &&
    asked.reporter.repository === reporter.repository
  );
}

function findChecked(state: State, checksId: string): Task | undefined {
  return [...state.tasks.values()].find(({ flow }) => flow.checks?.id === checksId);
}

/** The outcome of all checks; null while some are missing or cancelled. */
function outcomeOf({ plans, outcomes }: CheckRun, name: string, outcome: CheckOutcome): CheckOutcome | null {
  if (outcome === 'failed') return 'failed';
  const all = { ...outcomes, [name]: outcome };
  return plans.every((plan) => all[plan.name] === 'passed') ? 'passed' : null;
}

/** The weakest sandbox of the checks that Baton ran. Kinds are ordered from the strongest. */
function weakestSandbox(
  { plans, outcomes, sandboxes = {} }: CheckRun,
  { name, sandbox }: Pick<FinishCheck, 'name' | 'sandbox'>,
): { readonly sandbox?: string } {
  const ran = plans.filter(
    (plan) => plan.run !== undefined && (plan.name === name || outcomes[plan.name] !== undefined),
  );
  const kinds = new Set(ran.map((plan) => (plan.name === name ? sandbox : sandboxes[plan.name])));
  const weakest = SANDBOX_KINDS.findLast((kind) => kinds.has(kind));
  return weakest === undefined || kinds.has(undefined) ? {} : { sandbox: weakest };
}

/** Reports whether checks or a pull request are for another commit than the task's head. */
export function isOfOtherHead({ flow }: Task, made: { readonly head: string } | null): boolean {
  return flow.head !== null && made !== null && made.head !== flow.head;
}

/** The entries after the checks. If the task was moved meanwhile, its checks are only recorded. */
function afterChecks(task: Task, outcome: CheckOutcome, { name, output, handoffId }: FinishCheck): Event[] {
  if (task.phase !== 'CI_PENDING') return [];
  // Another commit was recorded meanwhile, for which the engine requests checks.
  if (isOfOtherHead(task, task.flow.checks)) return [];
  // The review begins when the pull request is open.
  if (outcome === 'passed' && task.flow.pull?.isWanted === true) return [];
  if (outcome === 'passed')
    return [phaseMovedEvent(task, phaseAfterChecks(task), { cause: 'checks', reason: 'all required checks passed' })];
  const handoff = fixerHandoff(task, 'ci-gate', [{ type: name, text: output ?? '' }], handoffId);
  const why = { cause: 'checks', reason: `check failed: ${name}` } as const;
  return [event('HandoffDelivered', handoff), phaseMovedEvent(task, 'IMPLEMENTATION', why, 'fixer')];
}
