import type { TaskUpdate } from '../protocol/task-update.ts';
import {
  type AdoptRunbook,
  type AskAdoption,
  decideAdoptRunbook,
  decideAskAdoption,
  decideDropAdoptionQuestions,
} from './adopt-runbook.ts';
import { agentPrincipal, type Caller, principalOf } from './caller.ts';
import { decideObserveMain, type ObserveMain } from './main/observe-main.ts';
import { type Outcome, refusal } from './outcome.ts';
import { type Rules, rulesInForce } from './rules.ts';
import {
  decideReportAgent,
  decideReportStarted,
  decideReportStartFailed,
  type ReportAgent,
  type ReportStarted,
  type ReportStartFailed,
} from './runs/report-agent.ts';
import {
  decideRaiseFindings,
  decideResolveDecision,
  type RaiseFindings,
  type ResolveDecision,
} from './runs/resolve-decision.ts';
import * as effects from './runs/settle-effect.ts';
import {
  type AttachAgent,
  decideAttachAgent,
  decideKillAgent,
  decideSendMessage,
  decideSignalAgent,
  type KillAgent,
  type SendMessage,
  type SignalAgent,
} from './runs/steer-agent.ts';
import * as start from './runs/steer-pipeline.ts';
import * as steer from './runs/steer-pipeline.ts';
import type { State } from './state.ts';
import { decideSeal, decideStartAudit, decideVerifyAudit, type StartAudit, type VerifyAudit } from './tasks/audit.ts';
import {
  type ClaimTask,
  decideClaimTask,
  decideExpireClaim,
  decideReleaseClaim,
  type ExpireClaim,
  type ReleaseClaim,
} from './tasks/claim-task.ts';
import { type AddDependency, type CreateTask, decideAddDependency, decideCreateTask } from './tasks/create-task.ts';
import { decideExitSession, type ExitSession } from './tasks/exit-session.ts';
import { checkSessionIsLive, decideOutboxMessage } from './tasks/late-message.ts';
import { decideOperateTask, type OperateTask } from './tasks/operate-task.ts';
import {
  decideMeasureSession,
  decideRecordThought,
  decideSubmitResult,
  type MeasureSession,
  type RecordThought,
  type SubmitResult,
} from './tasks/record-session.ts';
import { decideSelfApprove, decideSendHandoff, type SelfApprove, type SendHandoff } from './tasks/send-handoff.ts';
import { decideCompleteTask, decideUpdateTask } from './tasks/update-task.ts';
import { decideFinishCheck, type FinishCheck } from './workflow/checks.ts';
import { decideDeclineChecks, type DeclineChecks } from './workflow/decline-checks.ts';
import {
  decideFinishMerge,
  decidePrepareMerge,
  decideRequestMerge,
  type FinishMerge,
  type PrepareMerge,
  type RequestMerge,
} from './workflow/merge.ts';
import { decideMeasureProtected, type MeasureProtected } from './workflow/protected-paths.ts';
import * as pulls from './workflow/pull.ts';
import {
  type ClearPlace,
  decideClearPlace,
  decideNameBranch,
  decidePrepareSession,
  type NameBranch,
} from './workflow/session-place.ts';
import { decideStartWorkflow, type StartWorkflow } from './workflow/start-workflow.ts';
import type { WorkflowEvents } from './workflow/workflow-event.ts';

/** Everything that anybody can ask for. */
export type Command =
  | { readonly kind: 'create-task'; readonly command: CreateTask }
  | { readonly kind: 'add-dependency'; readonly command: AddDependency }
  | { readonly kind: 'claim-task'; readonly command: ClaimTask }
  | { readonly kind: 'release-claim'; readonly command: ReleaseClaim }
  | { readonly kind: 'expire-claim'; readonly command: ExpireClaim }
  | { readonly kind: 'update-task'; readonly command: TaskUpdate }
  | { readonly kind: 'record-thought'; readonly command: RecordThought }
  | { readonly kind: 'complete-task'; readonly command: RecordThought }
  | { readonly kind: 'operate-task'; readonly command: OperateTask }
  | { readonly kind: 'self-approve'; readonly command: SelfApprove }
  | { readonly kind: 'exit-session'; readonly command: ExitSession }
  | { readonly kind: 'submit-result'; readonly command: SubmitResult }
  | { readonly kind: 'send-handoff'; readonly command: SendHandoff }
  | { readonly kind: 'start-audit'; readonly command: StartAudit }
  | { readonly kind: 'verify-audit'; readonly command: VerifyAudit }
  | { readonly kind: 'seal'; readonly command: null }
  | { readonly kind: 'start-pipeline'; readonly command: start.StartPipeline }
  | { readonly kind: 'start-agent'; readonly command: start.StartAgent }
  | { readonly kind: 'configure-workers'; readonly command: start.ConfigureWorkers }
  | { readonly kind: 'signal-agent'; readonly command: SignalAgent }
  | { readonly kind: 'report-agent'; readonly command: ReportAgent }
  | { readonly kind: 'report-started'; readonly command: ReportStarted }
  | { readonly kind: 'report-start-failed'; readonly command: ReportStartFailed }
  | { readonly kind: 'finish-command'; readonly command: effects.FinishCommand }
  | { readonly kind: 'fire-timer'; readonly command: effects.FireTimer }
  | { readonly kind: 'deliver-message'; readonly command: effects.DeliverMessage }
  | { readonly kind: 'prepare-workspace'; readonly command: effects.PrepareWorkspace }
  | { readonly kind: 'workspace-failed'; readonly command: effects.FailWorkspace }
  | { readonly kind: 'notification-sent'; readonly command: effects.SendNotification }
  | { readonly kind: 'raise-findings'; readonly command: RaiseFindings }
  | { readonly kind: 'resolve-decision'; readonly command: ResolveDecision }
  | { readonly kind: 'cancel-pipeline'; readonly command: steer.CancelPipeline }
  | { readonly kind: 'retry-pipeline'; readonly command: steer.RetryPipeline }
  | { readonly kind: 'resume-pipeline'; readonly command: steer.ResumePipeline }
  | { readonly kind: 'send-message'; readonly command: SendMessage }
  | { readonly kind: 'kill-agent'; readonly command: KillAgent }
  | { readonly kind: 'attach-agent'; readonly command: AttachAgent }
  | { readonly kind: 'name-branch'; readonly command: NameBranch }
  | { readonly kind: 'prepare-session'; readonly command: WorkflowEvents['SessionPrepared'] }
  | { readonly kind: 'measure-session'; readonly command: MeasureSession }
  | { readonly kind: 'finish-check'; readonly command: FinishCheck }
  | { readonly kind: 'request-merge'; readonly command: RequestMerge }
  | { readonly kind: 'prepare-merge'; readonly command: PrepareMerge }
  | { readonly kind: 'measure-protected'; readonly command: MeasureProtected }
  | { readonly kind: 'finish-merge'; readonly command: FinishMerge }
  | { readonly kind: 'see-main'; readonly command: ObserveMain }
  | { readonly kind: 'publish-pull'; readonly command: pulls.PublishPull }
  | { readonly kind: 'fail-pull'; readonly command: pulls.FailPull }
  | { readonly kind: 'close-pull'; readonly command: pulls.ClosePull }
  | { readonly kind: 'clear-place'; readonly command: ClearPlace }
  | { readonly kind: 'start-workflow'; readonly command: StartWorkflow }
  | { readonly kind: 'adopt-runbook'; readonly command: AdoptRunbook }
  | { readonly kind: 'ask-adoption'; readonly command: AskAdoption }
  | { readonly kind: 'drop-adoption-questions'; readonly command: null }
  | { readonly kind: 'decline-checks'; readonly command: DeclineChecks };

/** Who may ask for what; a session asks only for what concerns its own claim, which each decision checks. */
export const MAY: Readonly<Record<Command['kind'], readonly Caller['kind'][]>> = {
  'create-task': ['operator', 'system', 'session'],
  'add-dependency': ['operator', 'system'],
  'claim-task': ['operator', 'system', 'worker'],
  'release-claim': ['operator', 'session'],
  'expire-claim': ['system'],
  'update-task': ['operator', 'session'],
  'record-thought': ['operator', 'session'],
  'complete-task': ['operator', 'session'],
  'operate-task': ['operator'],
  'self-approve': ['operator'],
  'exit-session': ['session'],
  'submit-result': ['session'],
  'send-handoff': ['operator', 'session'],
  'start-audit': ['operator', 'session'],
  'verify-audit': ['operator', 'session'],
  seal: ['operator', 'system', 'session'],
  'start-pipeline': ['operator', 'system'],
  'start-agent': ['operator', 'system'],
  'configure-workers': ['operator', 'system'],
  'signal-agent': ['operator', 'session', 'agent', 'supervisor'],
  'report-agent': ['operator', 'system', 'session', 'agent', 'supervisor'],
  'report-started': ['system'],
  'report-start-failed': ['system'],
  'finish-command': ['system', 'supervisor'],
  'fire-timer': ['system'],
  'deliver-message': ['system'],
  'prepare-workspace': ['system'],
  'workspace-failed': ['system'],
  'notification-sent': ['system'],
  'raise-findings': ['system'],
  'resolve-decision': ['operator'],
  'cancel-pipeline': ['operator', 'system'],
  'retry-pipeline': ['operator'],
  'resume-pipeline': ['operator'],
  'send-message': ['operator', 'system'],
  'kill-agent': ['operator', 'system'],
  'attach-agent': ['operator'],
  'name-branch': ['system'],
  'prepare-session': ['system'],
  'measure-session': ['system'],
  'finish-check': ['system'],
  'request-merge': ['operator', 'system', 'session'],
  'prepare-merge': ['system'],
  'measure-protected': ['system'],
  'finish-merge': ['system'],
  'see-main': ['system'],
  'publish-pull': ['system'],
  'fail-pull': ['system'],
  'close-pull': ['system'],
  'clear-place': ['system'],
  'start-workflow': ['operator', 'system'],
  'adopt-runbook': ['operator', 'system'],
  'ask-adoption': ['system'],
  'drop-adoption-questions': ['system'],
  'decline-checks': ['operator'],
};

/** (state, command) → entries to record, or a refusal. */
export function decide(state: State, command: Command, caller: Caller, given: Rules): Outcome<unknown> {
  const { kind } = command;
  if (!MAY[kind].includes(caller.kind)) {
    const message = `the token of this ${caller.kind} does not allow ${kind}`;
    return refusal('forbidden', message, `It takes the token of: ${MAY[kind].join(', ')}.`);
  }
  const rules = rulesInForce(state, given);
  if (caller.kind === 'session') {
    const kept = decideOutboxMessage(state, caller, (then) => decideAllowed(then, command, caller, rules));
    if (kept !== undefined) return kept;
    const live = checkSessionIsLive(state, kind, caller);
    if (!live.ok) return live;
  }
  return decideAllowed(state, command, caller, rules);
}

function decideAllowed(state: State, { kind, command }: Command, caller: Caller, rules: Rules): Outcome<unknown> {
  switch (kind) {
    case 'create-task':
      return decideCreateTask(state, command, caller);
    case 'add-dependency':
      return decideAddDependency(state, command);
    case 'claim-task':
      return decideClaimTask(state, { ...command, principal: principalFor(state, command, caller) }, rules);
    case 'release-claim':
      return decideReleaseClaim(state, command, caller);
    case 'expire-claim':
      return decideExpireClaim(state, command);
    case 'update-task':
      return decideUpdateTask(state, command, caller, rules);
    case 'record-thought':
      return decideRecordThought(state, command, caller);
    case 'complete-task':
      return decideCompleteTask(state, command, caller, rules);
    case 'operate-task':
      return decideOperateTask(state, command, rules);
    case 'self-approve':
      return decideSelfApprove(state, command, caller);
    case 'exit-session':
      return decideExitSession(state, command, caller, rules);
    case 'submit-result':
      return decideSubmitResult(state, command, caller);
    case 'send-handoff':
      return decideSendHandoff(state, command, caller, rules);
    case 'start-audit':
      return decideStartAudit(state, command, caller);
    case 'verify-audit':
      return decideVerifyAudit(state, command, caller);
    case 'seal':
      return decideSeal(state, caller);
    case 'start-pipeline':
      return start.decideStartPipeline(state, command);
    case 'start-agent':
      return start.decideStartAgent(state, command, rules);
    case 'configure-workers':
      return start.decideConfigureWorkers(state, command);
    case 'signal-agent':
      return decideSignalAgent(state, command, caller, rules);
    case 'report-agent':
      return decideReportAgent(state, command, caller, rules);
    case 'report-started':
      return decideReportStarted(state, command);
    case 'report-start-failed':
      return decideReportStartFailed(state, command);
    case 'finish-command':
      return effects.decideFinishCommand(state, command, caller);
    case 'fire-timer':
      return effects.decideFireTimer(state, command);
    case 'deliver-message':
      return effects.decideDeliverMessage(state, command);
    case 'prepare-workspace':
      return effects.decidePrepareWorkspace(state, command);
    case 'workspace-failed':
      return effects.decideFailWorkspace(state, command);
    case 'notification-sent':
      return effects.decideSendNotification(state, command);
    case 'raise-findings':
      return decideRaiseFindings(state, command, rules);
    case 'resolve-decision':
      return decideResolveDecision(state, command);
    case 'cancel-pipeline':
      return steer.decideCancelPipeline(state, command);
    case 'retry-pipeline':
      return steer.decideRetryPipeline(state, command);
    case 'resume-pipeline':
      return steer.decideResumePipeline(state, command);
    case 'send-message':
      return decideSendMessage(state, command);
    case 'measure-session':
      return decideMeasureSession(state, command);
    case 'name-branch':
      return decideNameBranch(state, command);
    case 'prepare-session':
      return decidePrepareSession(state, command);
    case 'finish-check':
      return decideFinishCheck(state, command);
    case 'request-merge':
      return decideRequestMerge(state, command, caller, rules);
    case 'measure-protected':
      return decideMeasureProtected(state, command);
    case 'finish-merge':
      return decideFinishMerge(state, command);
    case 'prepare-merge':
      return decidePrepareMerge(state, command, rules);
    case 'see-main':
      return decideObserveMain(state, command);
    case 'publish-pull':
      return pulls.decidePublishPull(state, command, rules);
    case 'fail-pull':
      return pulls.decideFailPull(state, command);
    case 'close-pull':
      return pulls.decideClosePull(state, command);
    case 'clear-place':
      return decideClearPlace(state, command);
    case 'start-workflow':
      return decideStartWorkflow(state, command, caller);
    case 'adopt-runbook':
      return decideAdoptRunbook(state, command);
    case 'ask-adoption':
      return decideAskAdoption(state, command);
    case 'drop-adoption-questions':
      return decideDropAdoptionQuestions(state);
    case 'decline-checks':
      return decideDeclineChecks(state, command);
    case 'attach-agent':
      return decideAttachAgent(state, command);
    case 'kill-agent':
      return decideKillAgent(state, command);
  }
}

/** The token says who claims; Baton itself claims for an agent definition. */
function principalFor(state: State, { holder }: ClaimTask, caller: Caller): string {
  return caller.kind === 'system' ? agentPrincipal(holder) : principalOf(state, caller);
}
