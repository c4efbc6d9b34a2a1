import { type HandoffMessage, parseHandoff } from '../../protocol/handoff/index.ts';
import { event, type Event, type EventOf } from '../../state/event.ts';
import { OPTION_LABELS } from '../../state/runs/decision.ts';
import { phaseMovedEvent } from '../../state/tasks/claim-task.ts';
import type { Task } from '../../state/tasks/task.ts';
import { checkGates } from '../../state/tasks/writeback.ts';
import type { HeldVerdict } from '../../state/workflow/flow.ts';
import { requestMerge } from '../../state/workflow/merge.ts';
import type { EngineContext } from '../context.ts';
import { diffCommand } from '../merge.ts';
import { describeReason } from '../resume.ts';
import { applyHoldDecision, holdTask } from './hold-task.ts';
import { steeringOptions } from './steer-task.ts';
import { quoteTitle } from '../../state/packet/author-of.ts';

type Resolved = EventOf<'DecisionResolved'>['data'];

/** On `VerdictUnproven`: an approval that cannot be proven moves nothing before a person confirms it. */
export function askAboutVerdict(world: EngineContext, task: Task): Event[] {
  const { verdict, mainAt, head } = task.flow;
  if (verdict === undefined) return [];
  const what = verdict.held.to === 'READY_FOR_MERGE' ? 'approves it' : 'declares it ready';
  const context = [
    quoteTitle(task),
    `A session of ${verdict.holder} (${verdict.principal}) ${what}, but ${REASONS[verdict.because]}`,
    ...findingsOf(verdict.held.handoff),
    ...(mainAt !== null && head !== null ? [`See the change: ${diffCommand(mainAt, head)}`] : []),
    SETTING,
  ].join('\n');
  const options = [
    { label: 'Confirm the approval', action: 'approve' },
    { label: OPTION_LABELS.send_back, action: 'send_back' },
    { label: 'Have it judged again', action: 'retry' },
    ...steeringOptions(task).filter(({ action }) => action !== 'send_back' && action !== 'cancel'),
    { label: 'Cancel the task', action: 'cancel' },
  ] as const;
  // Nothing speaks for the approval, and another judgement by the same client would ask again.
  return holdTask(world, task, { source: 'review', stage: 'unproven approval', context, options, recommends: null });
}

const REASONS: Readonly<Record<HeldVerdict['because'], string>> = {
  client:
    'its client cannot prove who sent this verdict: code that the session ran, such as the tests of this branch, could have sent it.',
  shell:
    'no sandbox separates its client from the code that the session ran: the tests of this branch, for example, could have made the client say this.',
};

const SETTING =
  'To accept such verdicts without a question: review.unseparated = "accept" in your own configuration (~/.config/baton/config.toml).';

/** The judge's findings as the handoff states them: data of an agent. */
function findingsOf(handoff: HeldVerdict['held']['handoff']): readonly string[] {
  const parsed = handoff === null ? undefined : parseHandoff(handoff.xml);
  return parsed?.ok === true ? describe(parsed.value) : [];
}

function describe(message: HandoffMessage): readonly string[] {
  const lines = Object.entries(message).flatMap(([name, value]) => (ADDRESSES.has(name) ? [] : linesOf(name, value)));
  return lines.length === 0 ? [] : ['What it found:', ...lines.slice(0, MOST_LINES)];
}

function linesOf(name: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map((each) => `  ${name}: ${plain(each)}`);
  return [`  ${name}: ${plain(value)}`];
}

function plain(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Object.values(value).map(plain).filter(Boolean).join(' ');
  return String(value);
}

const ADDRESSES: ReadonlySet<string> = new Set(['kind', 'from', 'to', 'timestamp', 'issue_number', 'pr_number']);
const MOST_LINES = 30;

/** On the answer. The confirmed approval takes effect on the commit that was judged, and on no other. */
export function applyVerdictDecision(world: EngineContext, task: Task, resolved: Resolved): Event[] {
  const { action, decision_id } = resolved;
  const { verdict } = task.flow;
  if (verdict === undefined) return [];
  const { handoff } = verdict.held;
  const drop = (reason: string): Event[] => (handoff === null ? [] : [event('HandoffDropped', { ...handoff, reason })]);
  if (action !== 'approve') return [...drop(`decision: ${action}`), ...applyHoldDecision(world, task, resolved)];
  const freed = event('TaskFreed', { task_id: task.id });
  if (task.phase !== verdict.from || task.flow.head !== verdict.head)
    return [freed, ...drop('the task or its head changed meanwhile')];
  const result = world.state.decisions.get(decision_id)?.result;
  const by = result?.kind === 'resolved' ? result.by : 'operator';
  const confirmed = event('VerdictConfirmed', {
    task_id: task.id,
    epoch: verdict.epoch,
    session_id: verdict.session_id,
    by,
  });
  const unheld = { ...task, flow: { ...task.flow, held: null } };
  const effects = effectsOf(world, unheld, verdict, describeReason(action, resolved.message));
  return effects.ok
    ? [...effects.before, confirmed, freed, ...effects.events]
    : [confirmed, freed, ...drop(effects.reason), blocked(task, effects.reason)];
}

type Effects =
  | { readonly ok: true; readonly before: readonly Event[]; readonly events: readonly Event[] }
  | { readonly ok: false; readonly reason: string };

function effectsOf(world: EngineContext, task: Task, { held }: HeldVerdict, reason: string): Effects {
  const { to, next_role, handoff, merge_id } = held;
  if (merge_id !== null) {
    const asked = requestMerge(task, handoff, merge_id, world.rules);
    return asked.ok
      ? { ok: true, before: [], events: asked.events }
      : { ok: false, reason: `merge refused: ${asked.refusal.message}` };
  }
  const passed = checkGates(task, to, world.rules);
  if (!passed.ok) return { ok: false, reason: passed.refusal.message };
  // The delivered handoff approves in the operator's name; the confirmation after it names the judge.
  const delivered = handoff === null ? [] : [event('HandoffDelivered', handoff)];
  return { ok: true, before: delivered, events: [phaseMovedEvent(task, to, { cause: 'decision', reason }, next_role)] };
}

function blocked(task: Task, reason: string): Event {
  return phaseMovedEvent(task, 'BLOCKED', { cause: 'merge-refused', reason });
}
