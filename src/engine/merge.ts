import { phaseMovedEvent } from '../state/tasks/end-claim.ts';
import { event, type Event } from '../state/event.ts';
import { checkNoOpenDecision } from '../state/tasks/judging.ts';
import type { Decision, DecisionAction } from '../state/runs/decision.ts';
import type { Task } from '../state/tasks/task.ts';
import { fixerHandoff } from '../state/workflow/gate-handoffs.ts';
import { requestMerge } from '../state/workflow/merge.ts';
import { diffCommand } from './diff-command.ts';
import { applyHoldDecision, holdTask } from './hold-task.ts';
import type { EngineContext } from './context.ts';

/** On `MergeHeld`: a branch that changes how work is checked is merged only after a person agreed to it. */
export function openProtectedDecision(world: EngineContext, task: Task): Event[] {
  const { protected: measured, heldMerge } = task.flow;
  if (heldMerge === null) return [];
  const paths = measured?.paths ?? [];
  const shown = paths.slice(0, MOST_SHOWN).map((path) => `  ${path}`);
  const more = paths.length > MOST_SHOWN ? [`  and ${paths.length - MOST_SHOWN} more`] : [];
  const context = [
    task.title,
    'The branch changes files that decide how work is checked:',
    ...shown,
    ...more,
    `See the change: ${diffCommand(measured?.base ?? '', heldMerge.head)}`,
  ].join('\n');
  const options = [
    { label: 'Send back to the fixer', action: 'deny' },
    { label: 'Merge', action: 'approve' },
    { label: 'Cancel the task', action: 'cancel' },
  ] as const;
  return holdTask(world, task, { source: 'merge', stage: 'merge of protected paths', context, options });
}

const MOST_SHOWN = 30;

/** What the person chose. The commit that they agreed to is merged; any other asks again. */
export function applyProtectedDecision(
  world: EngineContext,
  task: Task,
  { result }: Decision,
  action: DecisionAction,
): Event[] {
  const { heldMerge } = task.flow;
  if (heldMerge === null) return [];
  const { head, handoff } = heldMerge;
  const message = result?.kind === 'resolved' ? result.message : null;
  const freed = event('TaskFreed', { task_id: task.id });
  const drop = (reason: string): Event[] => (handoff === null ? [] : [event('HandoffDropped', { ...handoff, reason })]);
  // The task was taken elsewhere while the question was open.
  if (task.phase !== 'READY_FOR_MERGE') return [freed, ...drop('the task was moved meanwhile')];
  if (action === 'approve') {
    const by = result?.kind === 'resolved' ? result.by : 'operator';
    const flow = { ...task.flow, held: null, heldMerge: null, agreed: head };
    const agreed = event('MergeAgreed', { task_id: task.id, head, by });
    // Another question about the task is open: the merge is asked for again when that is answered, and this one is not repeated.
    if (!checkNoOpenDecision(world.state, task).ok) return [freed, agreed, ...drop('another decision is open')];
    const asked = requestMerge({ ...task, flow }, handoff, `merge-${world.newId()}`, world.rules);
    if (asked.ok) return [freed, agreed, ...asked.events];
    const refused = { cause: 'merge-refused', reason: `merge refused: ${asked.refusal.message}` } as const;
    return [freed, agreed, ...drop(asked.refusal.message), phaseMovedEvent(task, 'BLOCKED', refused)];
  }
  if (action !== 'deny') return [...drop(`decision: ${action}`), ...applyHoldDecision(task, action, message)];
  const paths = task.flow.protected?.paths ?? [];
  const text = `${message ?? 'Leave these files as they are, or explain why they must change.'}\n${paths.join('\n')}`;
  const back = fixerHandoff(task, 'validator-agent', [{ type: 'protected_paths', text }], world.newId());
  const why = {
    cause: 'decision',
    reason: message === null ? 'decision: deny' : `decision: deny: ${message}`,
  } as const;
  return [
    freed,
    ...drop('a person sent the change back'),
    event('HandoffDelivered', back),
    phaseMovedEvent(task, 'IMPLEMENTATION', why, 'fixer'),
  ];
}
