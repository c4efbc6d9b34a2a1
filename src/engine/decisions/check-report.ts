import { event, type Event, type EventOf, type Events } from '../../state/event.ts';
import type { Decision, DecisionAction } from '../../state/runs/decision.ts';
import type { Task } from '../../state/tasks/task.ts';
import { decideFinishCheck } from '../../state/workflow/checks.ts';
import type { EngineContext } from '../context.ts';
import { askPeople } from './notify.ts';

type Questioned = Events['CheckQuestioned'];

/** On `CheckQuestioned`: a person decides whether the report counts. The check waits meanwhile. */
export function askAboutReport(world: EngineContext, task: Task, questioned: Questioned): Event[] {
  const { checks_id, name, head, conclusion, because, outcome, output, reporter } = questioned;
  const context = [
    `${reporter.app} of ${reporter.repository} reports ${JSON.stringify(conclusion)} for the check ${JSON.stringify(name)} of ${task.id} at ${head.slice(0, 12)}.`,
    REASONS[because],
    ...(output === null ? [] : [output]),
  ].join('\n');
  const asked = askPeople(world, {
    source: 'gate',
    title: `Does this report of a check count? ${task.id}`,
    context,
    options: [
      { label: outcome === 'passed' ? 'Count the check as passed' : `Accept it: ${outcome}`, action: 'approve' },
      { label: 'Ignore it, and wait for another report', action: 'deny' },
    ],
    // Nothing speaks for a report that checked nothing, or of a stranger.
    recommends: null,
    task_id: task.id,
    check: { checks_id, name },
  });
  return [...withdraw(world, task, (check) => check.name === name), ...asked];
}

const REASONS: Readonly<Record<Questioned['because'], string>> = {
  repository:
    'The project has no remote at GitHub, so Baton does not know whose reports count. Name it: ci.required.repository = "owner/name". If you accept, this app is remembered for this repository.',
  app: 'Another app reported this check before. If you accept, Baton remembers this one instead. To name it: ci.required.app.',
  conclusion:
    'Such a run checked nothing. To accept it without a question: ci.required.allow = ["skipped", "neutral"].',
};

/** On the answer. A report about an earlier head changes nothing. */
export function settleReport(
  world: EngineContext,
  { taskId }: Decision,
  { checks_id, name }: NonNullable<Decision['check']>,
  action: DecisionAction,
): Event[] {
  const { checks } = world.state.tasks.get(taskId ?? '')?.flow ?? {};
  const asked = checks?.id === checks_id ? checks.questions?.[name] : undefined;
  if (asked === undefined || action !== 'approve') return [];
  const { outcome, output, reporter, conclusion } = asked;
  const about = { exit_code: null, log: null, output, handoffId: world.newId() };
  const report = { reporter, conclusion };
  const command = { checks_id, name, outcome, ...about, report, isAccepted: true };
  const finished = decideFinishCheck(world.state, command, world.rules);
  return finished.ok ? [...finished.events] : [];
}

/** When a check has another outcome, or other checks count: withdraws the questions that no longer matter. */
export function withdrawReports(world: EngineContext, task: Task): Event[] {
  const { checks } = task.flow;
  const isOpen = ({ checks_id, name }: NonNullable<Decision['check']>): boolean =>
    checks?.id === checks_id && checks.outcome === null && !isOver(checks.outcomes[name]);
  return withdraw(world, task, (check) => !isOpen(check));
}

function isOver(outcome: EventOf<'CheckFinished'>['data']['outcome'] | undefined): boolean {
  return outcome === 'passed' || outcome === 'failed';
}

function withdraw(
  { state }: EngineContext,
  { id }: Task,
  isMoot: (check: NonNullable<Decision['check']>) => boolean,
): Event[] {
  const reason = 'the check has another report';
  return [...state.decisions.values()].flatMap(({ id: decision_id, taskId, result, check }) =>
    result === null && taskId === id && check !== undefined && isMoot(check)
      ? [event('DecisionWithdrawn', { decision_id, reason })]
      : [],
  );
}
