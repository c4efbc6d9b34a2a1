import { event, type Event, type EventOf } from '../../state/event.ts';
import { type DecisionAction, OPTION_LABELS } from '../../state/runs/decision.ts';
import type { Question } from '../../state/runs/resolve-decision.ts';
import { phaseMovedEvent } from '../../state/tasks/claim-task.ts';
import { JUDGED_PHASES, type Task } from '../../state/tasks/task.ts';
import { fixerHandoff } from '../../state/workflow/gate-handoffs.ts';
import type { EngineContext } from '../context.ts';
import { describeReason } from '../resume.ts';

type Resolved = EventOf<'DecisionResolved'>['data'];

/** The options with which a person steers a workflow's task, besides those that answer the question. */
export function steeringOptions(task: Task): Question['options'] {
  if (task.flow.mode === null || task.phase === 'COMPLETED') return [];
  const actions: readonly DecisionAction[] = [
    ...(mayGoBack(task) ? ['send_back' as const] : []),
    'hand_over',
    'take_over',
    'cancel',
  ];
  const labels = { ...OPTION_LABELS, cancel: 'Cancel the task' };
  return actions.map((action) => ({ label: labels[action], action }));
}

/**
 * Judged work goes back to the fixer, an issue to the issue-manager. In earlier phases there is nothing to send back.
 */
function mayGoBack({ phase, nextRole }: Task): boolean {
  return JUDGED_PHASES.has(phase) || (phase === 'DRAFT' && nextRole === 'prep');
}

/** The note is a finding for the fixer. The issue-manager reads it in the context packet. */
export function sendBack(world: EngineContext, task: Task, note: string): Event[] {
  const why = { cause: 'decision', reason: describeReason('send_back', note) } as const;
  if (task.phase === 'DRAFT') return [phaseMovedEvent(task, 'DRAFT', why, 'issue-manager')];
  const handoff = fixerHandoff(task, 'operator', [{ type: 'person', text: note }], world.newId());
  return [event('HandoffDelivered', handoff), phaseMovedEvent(task, 'IMPLEMENTATION', why, 'fixer')];
}

/** The next claim goes to the named agent, or to the person who answered. */
export function assignTask(world: EngineContext, task: Task, { decision_id, action, hand_to }: Resolved): Event[] {
  if (action === 'hand_over')
    return [event('TaskAssigned', { task_id: task.id, agent: hand_to ?? null, person: null })];
  const result = world.state.decisions.get(decision_id)?.result;
  const person = result?.kind === 'resolved' ? result.by : 'operator';
  return [event('TaskAssigned', { task_id: task.id, agent: null, person })];
}
