import { type CallerKind, commandAccess, type CommandKind } from '../protocol/command-access.ts';
import { decideAdoptRunbook, decideAskAdoption, decideDropAdoptionQuestions } from './adopt-runbook.ts';
import { agentPrincipal, type Caller, principalOf } from './caller.ts';
import * as fleet from './fleet/admit-host.ts';
import { decideChangeCaretaker, decideRaiseLevel, findStaleTerm } from './fleet/caretaker.ts';
import { findClosedHost } from './fleet/closed-host.ts';
import { findForeignRun } from './fleet/foreign-run.ts';
import { decideRemoveHost } from './fleet/remove-host.ts';
import { decideReportPush } from './fleet/report-push.ts';
import { decideImportTasks } from './import-tasks.ts';
import { decideObserveMain } from './main/observe-main.ts';
import { type Outcome, refusal } from './outcome.ts';
import { decideAddPageKey, decideRevokePageKey, findRevokedPage } from './page-keys.ts';
import { type Rules, rulesInForce } from './rules.ts';
import { decideReportAgent, decideReportStarted, decideReportStartFailed } from './runs/report-agent.ts';
import { decideUndoAnswer } from './runs/pending-answer.ts';
import {
  decideAnswerDecisions,
  decideApplyAnswer,
  decideRaiseFindings,
  decideResolveDecision,
} from './runs/resolve-decision.ts';
import * as effects from './runs/settle-effect.ts';
import { decideAttachAgent, decideKillAgent, decideSendMessage, decideSignalAgent } from './runs/steer-agent.ts';
import * as start from './runs/steer-pipeline.ts';
import * as steer from './runs/steer-pipeline.ts';
import type { State } from './state.ts';
import { decideSeal, decideStartAudit, decideVerifyAudit } from './tasks/audit.ts';
import { type ClaimTask, decideClaimTask, decideExpireClaim, decideReleaseClaim } from './tasks/claim-task.ts';
import { decideCountTask } from './tasks/count-task.ts';
import { decideAddDependency, decideCreateTask } from './tasks/create-task.ts';
import { decideExitSession } from './tasks/exit-session.ts';
import { checkSessionIsLive, decideOutboxMessage } from './tasks/late-message.ts';
import { decideNoteTask } from './tasks/note-task.ts';
import { decideOperateTask } from './tasks/operate-task.ts';
import { decideMeasureSession, decideRecordThought, decideSubmitResult } from './tasks/record-session.ts';
import { findUnmatchedCall, holdUnprovenVerdict } from './tasks/prove-verdict.ts';
import { decideSelfApprove, decideSendHandoff } from './tasks/send-handoff.ts';
import { decideMoveTaskRules } from './tasks/task-rules.ts';
import { decideWaiveConstraint } from './tasks/waive-constraint.ts';
import { decideCompleteTask, decideUpdateTask } from './tasks/update-task.ts';
import { decideObserveBranch } from './workflow/branch-moves.ts';
import { decideFinishCheck } from './workflow/checks.ts';
import { decideDeclineChecks } from './workflow/decline-checks.ts';
import { decideCloseGithubIssue } from './workflow/github-issue.ts';
import { decideFinishMerge, decidePrepareMerge, decideRequestMerge } from './workflow/merge.ts';
import { decideMeasureProtected } from './workflow/protected-paths.ts';
import * as pulls from './workflow/pull.ts';
import { decideClearPlace, decideNameBranch, decidePrepareSession } from './workflow/session-place.ts';
import { decideStartWorkflow } from './workflow/start-workflow.ts';

/**
 * Every command with the function that decides it: (state, command, caller, rules) → entries to record, or a refusal.
 * `protocol/command-access.ts` lists who may send a command; both tables must name the same commands. The function
 * determines the type of its command.
 */
const COMMANDS = {
  'create-task': decideCreateTask,
  'import-tasks': decideImportTasks,
  'add-dependency': decideAddDependency,
  'claim-task': (state, command: ClaimTask, caller, rules, here) =>
    decideClaimTask(state, { ...command, principal: principalFor(state, command, caller) }, rules, here),
  'release-claim': decideReleaseClaim,
  'expire-claim': decideExpireClaim,
  'update-task': decideUpdateTask,
  'record-thought': decideRecordThought,
  'complete-task': decideCompleteTask,
  'operate-task': byRules(decideOperateTask),
  'waive-constraint': decideWaiveConstraint,
  'move-task-rules': byRules(decideMoveTaskRules),
  'note-task': decideNoteTask,
  'count-task': decideCountTask,
  'self-approve': decideSelfApprove,
  'exit-session': decideExitSession,
  'submit-result': decideSubmitResult,
  'send-handoff': decideSendHandoff,
  'start-audit': decideStartAudit,
  'verify-audit': decideVerifyAudit,
  seal: (state, _command: null, caller) => decideSeal(state, caller),
  'start-pipeline': start.decideStartPipeline,
  'start-agent': (state, command: start.StartAgent, _caller, rules, here) =>
    start.decideStartAgent(state, command, rules, here),
  'configure-workers': start.decideConfigureWorkers,
  'signal-agent': decideSignalAgent,
  'report-agent': decideReportAgent,
  'report-started': decideReportStarted,
  'report-start-failed': decideReportStartFailed,
  'finish-command': effects.decideFinishCommand,
  'fire-timer': effects.decideFireTimer,
  'deliver-message': effects.decideDeliverMessage,
  'prepare-workspace': effects.decidePrepareWorkspace,
  'workspace-failed': effects.decideFailWorkspace,
  'notification-sent': effects.decideSendNotification,
  'raise-findings': byRules(decideRaiseFindings),
  'resolve-decision': byRules(decideResolveDecision),
  'answer-decisions': byRules(decideAnswerDecisions),
  'undo-answer': decideUndoAnswer,
  'apply-answer': byRules(decideApplyAnswer),
  'cancel-pipeline': steer.decideCancelPipeline,
  'retry-pipeline': steer.decideRetryPipeline,
  'acknowledge-run': steer.decideAcknowledgeRun,
  'resume-pipeline': steer.decideResumePipeline,
  'send-message': decideSendMessage,
  'kill-agent': decideKillAgent,
  'attach-agent': decideAttachAgent,
  'name-branch': decideNameBranch,
  'prepare-session': decidePrepareSession,
  'measure-session': decideMeasureSession,
  'finish-check': byRules(decideFinishCheck),
  'request-merge': decideRequestMerge,
  'prepare-merge': byRules(decidePrepareMerge),
  'measure-protected': decideMeasureProtected,
  'observe-branch': byRules(decideObserveBranch),
  'finish-merge': decideFinishMerge,
  'see-main': decideObserveMain,
  'publish-pull': byRules(pulls.decidePublishPull),
  'fail-pull': pulls.decideFailPull,
  'close-pull': pulls.decideClosePull,
  'close-github-issue': decideCloseGithubIssue,
  'clear-place': decideClearPlace,
  'start-workflow': decideStartWorkflow,
  'adopt-runbook': decideAdoptRunbook,
  'ask-adoption': decideAskAdoption,
  'drop-adoption-questions': (state, _command: null) => decideDropAdoptionQuestions(state),
  'decline-checks': decideDeclineChecks,
  'found-fleet': fleet.decideFoundFleet,
  'admit-host': fleet.decideAdmitHost,
  'drain-host': fleet.decideDrainHost,
  'remove-host': decideRemoveHost,
  'change-caretaker': decideChangeCaretaker,
  'change-remote': fleet.decideChangeRemote,
  'raise-level': decideRaiseLevel,
  'report-push': decideReportPush,
  'accept-store': fleet.decideAcceptStore,
  'add-page-key': decideAddPageKey,
  'revoke-page-key': decideRevokePageKey,
} satisfies { readonly [K in CommandKind]: Decide };

type Decide<C = never> = (
  state: State,
  command: C,
  caller: Caller,
  rules: Rules,
  here: string | undefined,
) => Outcome<unknown>;

export type CommandOf<K extends CommandKind> = {
  [P in K]: { readonly kind: P; readonly command: Parameters<(typeof COMMANDS)[P]>[1] };
}[K];

export type Command = CommandOf<CommandKind>;
export type AnswerOf<K extends CommandKind> = AnswerIn<ReturnType<(typeof COMMANDS)[K]>>;
type AnswerIn<O> = O extends { readonly ok: true; readonly answer: infer A } ? A : never;

/**
 * Checks that the caller may send the command, then decides it without changing the state. `here`: the host that
 * decides.
 */
export function decide<K extends CommandKind>(
  state: State,
  order: CommandOf<K>,
  caller: Caller,
  given: Rules,
  here: string | undefined,
): Outcome<AnswerOf<K>> {
  const { kind, command } = order;
  const allowed: readonly CallerKind[] = commandAccess[kind];
  if (!allowed.includes(caller.kind)) {
    const message = `the token of this ${caller.kind} does not allow ${kind}`;
    return refusal('forbidden', message, `It needs the token of: ${allowed.join(', ')}.`);
  }
  const unfit =
    findRevokedPage(state, caller) ??
    findStaleTerm(state, caller) ??
    findClosedHost(state, kind, here) ??
    findForeignRun(state, kind, command, caller, here) ??
    findUnmatchedCall(state, kind, command, caller);
  if (unfit !== undefined) return unfit;
  const rules = rulesInForce(state, given);
  // The table's type proves that each row takes its own command, but TypeScript can check that only for one kind at a
  // time.
  const decideRow = COMMANDS[kind] as unknown as Decide<unknown>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const decideOn = (then: State) =>
    holdUnprovenVerdict(then, caller, given, decideRow(then, command, caller, rules, here) as Outcome<AnswerOf<K>>); // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (caller.kind === 'session') {
    const kept = decideOutboxMessage(state, caller, decideOn);
    if (kept !== undefined) return kept;
    const live = checkSessionIsLive(state, kind, caller);
    if (!live.ok) return live;
  }
  return decideOn(state);
}

/** A decision that depends on the rules and not on the caller. */
function byRules<C, A>(decideIt: (state: State, command: C, rules: Rules) => Outcome<A>) {
  return (state: State, command: C, _caller: Caller, rules: Rules): Outcome<A> => decideIt(state, command, rules);
}

/** The principal of a claim, from the token; a claim by Baton itself is for an agent definition. */
function principalFor(state: State, { holder }: ClaimTask, caller: Caller): string {
  return caller.kind === 'system' ? agentPrincipal(holder) : principalOf(state, caller);
}
