import type { Effect, TimerPurpose } from '../runs/effect.ts';
import type { BudgetScope } from '../runs/budget-scope.ts';
import type { State } from '../state.ts';
import { findHost, hostOf, type Placed } from './fleet.ts';

/** The only host that performs an effect, or the project's caretaker. */
export type EffectOwner = { readonly host: string } | 'caretaker';

/** The asking host. */
export interface Here {
  readonly host: string;
  readonly isCaretaker: boolean;
}

/** Reports whether this host performs an effect now. On SQLite (`here` is undefined) there is only one host. */
export function isMine(effect: Effect, state: State, here: Here | undefined): boolean {
  if (here === undefined) return true;
  const owner = effectOwner(effect, state);
  return owner === 'caretaker' ? here.isCaretaker : owner.host === here.host;
}

/** Whether a run is on this host. */
export function isHere(run: Placed, state: State, here: Pick<Here, 'host'> | undefined): boolean {
  return here === undefined || hostOf(run, state) === here.host;
}

export function effectOwner(effect: Effect, state: State): EffectOwner {
  const { agents, pipelines } = state;
  switch (effect.type) {
    case 'AgentRequested':
    case 'AgentResumeRequested':
    case 'AgentAttachRequested':
    case 'AgentRestartRequested':
    case 'AgentKillRequested':
    case 'MessageRequested':
      return ownerOf(agents.get(effect.data.agent_id), state);
    case 'WorkspaceRequested':
      return ownerOf(pipelines.get(effect.data.pipeline_id), state);
    case 'CommandRequested': {
      const { subject } = effect.data;
      return ownerOf(
        subject.kind === 'gate' ? agents.get(subject.agent_id) : pipelines.get(subject.pipeline_id),
        state,
      );
    }
    case 'TimerSet':
      return timerOwner(effect.data.purpose, state);
    case 'PlaceClearRequested':
      return placeOwner(effect.data.task_id, state);
    case 'DecisionAnswered':
    case 'NotificationRequested':
    case 'ChecksRequested':
    case 'MergeRequested':
    case 'PullRequestRequested':
    case 'PullRequestPublished':
    case 'PullRequestCloseRequested':
    case 'GithubIssueCloseRequested':
    case 'PhaseMoved':
      return 'caretaker';
  }
}

/** Timers of a run belong to its host, so that another host's clock cannot judge a disconnected host. */
function timerOwner(purpose: TimerPurpose, state: State): EffectOwner {
  switch (purpose.kind) {
    case 'handler':
    case 'reset':
    case 'leave':
      return ownerOf(state.agents.get(purpose.agent_id), state);
    case 'step':
    case 'retry':
      return ownerOf(state.pipelines.get(purpose.pipeline_id), state);
    case 'budget':
      return budgetOwner(purpose.scope, state);
    case 'stall':
    case 'unblock':
    case 'day':
      return 'caretaker';
  }
}

function budgetOwner({ kind, id }: BudgetScope, state: State): EffectOwner {
  if (kind === 'agent') return ownerOf(state.agents.get(id), state);
  return kind === 'pipeline' ? ownerOf(state.pipelines.get(id), state) : 'caretaker';
}

/** The host of the task's last session has its worktree. If that host was removed, no host has it. */
function placeOwner(taskId: string, state: State): EffectOwner {
  const work = state.tasks.get(taskId)?.work ?? null;
  return ownerOf(work ?? { host: null }, state);
}

/**
 * The owner of a run. If the state has dropped the run, or its host was removed, nothing runs, and the caretaker
 * records that.
 */
export function ownerOf(run: Placed, state: State): EffectOwner {
  const host = run === undefined ? undefined : hostOf(run, state);
  return host === undefined || findHost(state, host) === undefined ? 'caretaker' : { host };
}
