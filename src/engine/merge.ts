import { findCodeFiles } from '../protocol/code-files/code-files.ts';
import { shellWord } from '../protocol/text/quote-for-shell.ts';
import { event, type Event, type EventOf } from '../state/event.ts';
import { rulesFor } from '../state/rules.ts';
import { OPTION_LABELS } from '../state/runs/decision.ts';
import { phaseMovedEvent } from '../state/tasks/claim-task.ts';
import { checkNoOpenDecision } from '../state/tasks/judging.ts';
import { hasUnjudgedHead, sendBackToChecks } from '../state/tasks/operate-task.ts';
import { JUDGED_PHASES, type Task, writebackRecords } from '../state/tasks/task.ts';
import { phaseAfterChecks } from '../state/workflow/approval.ts';
import { isOfOtherHead } from '../state/workflow/checks.ts';
import { fixerHandoff } from '../state/workflow/gate-handoffs.ts';
import { refuseMerge, requestMerge } from '../state/workflow/merge.ts';
import { renderPullBody } from '../state/workflow/pull.ts';
import type { EngineContext } from './context.ts';
import { applyHoldDecision, holdTask } from './decisions/hold-task.ts';
import { askPeople } from './decisions/notify.ts';
import { describeReason } from './resume.ts';
import { quoteTitle } from '../state/packet/author-of.ts';

/** On `MergeHeld`: a branch that changes how work is checked is merged only after a person approved it. */
export function openProtectedDecision(world: EngineContext, task: Task): Event[] {
  const { protected: measured, heldMerge } = task.flow;
  if (heldMerge === null) return [];
  const paths = measured?.paths ?? [];
  const shown = paths.slice(0, MOST_SHOWN);
  const more = paths.length > MOST_SHOWN ? [`  and ${paths.length - MOST_SHOWN} more`] : [];
  const reasons = new Set(paths.map((path) => findCodeFiles(path)?.reason ?? IN_USE));
  const context = [
    quoteTitle(task),
    'The branch changes files that run code on other machines or decide how work is checked:',
    ...shown.map((path) => `  ${path}`),
    ...more,
    ...[...reasons].map((reason) => `Why it asks: ${reason}`),
    `See the change: ${diffCommand(measured?.base ?? '', heldMerge.head, more.length === 0 ? shown : [])}`,
  ].join('\n');
  const options = [
    { label: OPTION_LABELS.send_back, action: 'send_back' },
    { label: 'Merge', action: 'approve' },
    { label: 'Cancel the task', action: 'cancel' },
  ] as const;
  return holdTask(world, task, { source: 'merge', stage: 'merge of protected paths', context, options });
}

const MOST_SHOWN = 30;
const IN_USE = 'Baton, a required check or `ci.protected` of the runbook uses it.';

/** On the answer. Exactly the approved commit is merged; any other commit opens a new decision. */
export function applyProtectedDecision(
  world: EngineContext,
  task: Task,
  resolved: EventOf<'DecisionResolved'>['data'],
): Event[] {
  const { action, message, decision_id } = resolved;
  const { heldMerge } = task.flow;
  if (heldMerge === null) return [];
  const { head, handoff } = heldMerge;
  const result = world.state.decisions.get(decision_id)?.result;
  const freed = event('TaskFreed', { task_id: task.id });
  const drop = (reason: string): Event[] => (handoff === null ? [] : [event('HandoffDropped', { ...handoff, reason })]);
  // The task was moved to another phase while the decision was open.
  if (task.phase !== 'READY_FOR_MERGE') return [freed, ...drop('the task moved to another phase meanwhile')];
  if (action === 'approve') {
    const by = result?.kind === 'resolved' ? result.by : 'operator';
    const flow = { ...task.flow, held: null, heldMerge: null, agreed: head };
    const agreed = event('MergeAgreed', { task_id: task.id, head, by });
    // Another decision about the task is open. Its answer requests the merge again, and this approval stays valid.
    if (!checkNoOpenDecision(world.state, task).ok) return [freed, agreed, ...drop('another decision is open')];
    const asked = requestMerge({ ...task, flow }, handoff, `merge-${world.newId()}`, world.rules);
    if (asked.ok) return [freed, agreed, ...asked.events];
    const refused = { cause: 'merge-refused', reason: `merge refused: ${asked.refusal.message}` } as const;
    return [freed, agreed, ...drop(asked.refusal.message), phaseMovedEvent(task, 'BLOCKED', refused)];
  }
  // Decisions opened by earlier versions offer `deny` for sending back.
  if (action !== 'deny' && action !== 'send_back')
    return [...drop(`decision: ${action}`), ...applyHoldDecision(world, task, resolved)];
  const paths = task.flow.protected?.paths ?? [];
  const text = `${message ?? 'Leave these files as they are, or explain why they must change.'}\n${paths.join('\n')}`;
  const back = fixerHandoff(task, 'operator', [{ type: 'protected_paths', text }], world.newId());
  const why = { cause: 'decision', reason: describeReason(action, message) } as const;
  return [
    freed,
    ...drop('a person sent the change back'),
    event('HandoffDelivered', back),
    phaseMovedEvent(task, 'IMPLEMENTATION', why, 'fixer'),
  ];
}

/**
 * The command that shows a person a change before a decision. An agent can configure the repository so that git runs
 * programs or hides bytes: replaced commits, `textconv`, an external diff, a pager, `-diff` attributes. The options
 * turn these off.
 */
export function diffCommand(from: string, to: string, paths: readonly string[] = []): string {
  const only = paths.length === 0 ? '' : ` -- ${paths.map(shellWord).join(' ')}`;
  return `git --no-replace-objects --no-pager${only === '' ? '' : ' --literal-pathspecs'} diff --no-ext-diff --no-textconv --text ${from.slice(0, 12)} ${to.slice(0, 12)}${only}`;
}

/** At GitHub another commit can be pushed after the last check. It cannot be undone, so people are notified at once. */
export function onMerged(world: EngineContext, task: Task, data: EventOf<'MergeFinished'>['data']): Event[] {
  const { outcome, reason, merge_sha } = data;
  if (outcome !== 'merged' || reason === null) return [];
  return askPeople(world, {
    source: 'merge',
    title: `The main branch needs attention: ${task.id} was merged onto a commit that was not checked`,
    context: `${quoteTitle(task)}\nMerged as ${merge_sha ?? ''}. ${reason}`,
    options: [{ label: OPTION_LABELS.dismiss, action: 'dismiss' }],
    task_id: task.id,
  });
}

/** Cancels the merge of a task that was moved to another phase while its merge was queued or running. */
export function cancelMerge(task: Task, { to, reason }: EventOf<'PhaseMoved'>['data']): Event[] {
  const { merge } = task.flow;
  return merge === null || to === 'READY_FOR_MERGE' ? [] : refuseMerge(task, merge, `called off: ${reason}`);
}

/**
 * With pull requests: opens one for a task in CI at the checked commit, or reopens one that was closed with its
 * cancelled task.
 */
export function requestPull(world: EngineContext, task: Task): Event[] {
  const { pulls, merge } = rulesFor(task, world.rules);
  const { place, pull } = task.flow;
  const head = task.phase === 'CI_PENDING' ? task.flow.head : pull?.published;
  if (!wantsPull(world, task) || pulls === undefined || place === null || !head) return [];
  const { repository, remote, draft } = pulls;
  return [
    event('PullRequestRequested', {
      pull_id: world.newId(),
      task_id: task.id,
      repository,
      remote,
      branch: place.branch,
      head,
      into: merge?.into ?? '',
      title: `${task.id}: ${task.title}`,
      body: renderPullBody(task),
      draft,
    }),
  ];
}

/** Baton pushes only branches that it created. A person's branch, perhaps main, is theirs to publish. */
function wantsPull({ rules }: EngineContext, task: Task): boolean {
  const { phase, flow } = task;
  if (rulesFor(task, rules).pulls === undefined || flow.place === null || flow.head === null) return false;
  const isBack = flow.pull?.isClosed === true && (phase === 'READY_FOR_REVIEW' || phase === 'READY_FOR_MERGE');
  return phase === 'CI_PENDING' || isBack;
}

/** If an operator cancelled the task, closes its pull request with the reason. */
export function closePullOfCancelled(
  { newId }: EngineContext,
  task: Task,
  { cause, reason }: EventOf<'PhaseMoved'>['data'],
): Event[] {
  const { pull } = task.flow;
  if (cause !== 'cancelled' || pull === null) return [];
  const about = { task_id: task.id };
  const given = pull.isWanted ? [event('PullRequestFailed', { ...about, pull_id: pull.id, reason })] : [];
  if (pull.number === null || pull.isClosed) return given;
  const { repository, number } = pull;
  const comment = `The task ${task.id} was ${reason}`;
  return [...given, event('PullRequestCloseRequested', { ...about, pull_id: newId(), repository, number, comment })];
}

/** On a task in CI_PENDING: requests its required checks on exactly the commit that the session ended at. */
export function onCiPending(world: EngineContext, task: Task): Event[] {
  const { rules, newId } = world;
  const { checks = [], ciGate: isOn } = rulesFor(task, rules);
  if (task.phase !== 'CI_PENDING') return [];
  // The checks are requested once the pull request is published.
  if (!isOn && wantsPull(world, task)) return [];
  if (!isOn && task.flow.mode !== null)
    return [phaseMovedEvent(task, phaseAfterChecks(task), { cause: 'checks', reason: 'no checks are required' })];
  if (!isOn || checks.length === 0) return [];
  const head = task.flow.head ?? writebackRecords(task).at(-1)?.commitSha;
  if (head === undefined)
    return [
      phaseMovedEvent(task, 'BLOCKED', {
        cause: 'nothing-to-check',
        reason: 'there is no commit to check: no thought record names one',
      }),
    ];
  return [event('ChecksRequested', { checks_id: newId(), task_id: task.id, head, checks })];
}

/** On checks or a pull request for a commit that is no longer the task's head: requests the same for the head. */
export function onNewHead(world: EngineContext, task: Task, made: { readonly head: string }): Event[] {
  if (task.phase !== 'CI_PENDING' || !isOfOtherHead(task, made)) return [];
  return [...requestPull(world, task), ...onCiPending(world, task)];
}

/** If a reviewing session committed and ended, the task leaves review, because the commit is not checked yet. */
export function onMeasured({ rules }: EngineContext, task: Task): Event[] {
  if (task.claim !== null || !JUDGED_PHASES.has(task.phase) || !hasUnjudgedHead(task)) return [];
  return sendBackToChecks(task, { cause: 'checks', reason: 'a session that reviewed the work changed it' }, rules);
}
