import type { Phase } from '../../protocol/phase.ts';
import type { AgentError, HandlerName } from '../../protocol/run-plan.ts';
import type { BudgetScope } from './budget-scope.ts';
import type { CheckPlan, MergeMethod, PullRepository } from '../workflow/workflow-event.ts';

/** Whom a command or a timer is for. */
export type EffectSubject =
  | { readonly kind: 'step'; readonly pipeline_id: string; readonly step: string; readonly visit: number }
  | {
      readonly kind: 'gate';
      readonly agent_id: string;
      readonly handler: HandlerName;
      readonly error: AgentError | null;
    };

export type TimerPurpose =
  /** The cooldown of a handler is over: the action that was put off is due. */
  | {
      readonly kind: 'handler';
      readonly agent_id: string;
      readonly handler: HandlerName;
      readonly error: AgentError | null;
    }
  /** The limit of an API is lifted: the agent goes on. */
  | { readonly kind: 'reset'; readonly agent_id: string }
  /** A step has taken too long. */
  | { readonly kind: 'step'; readonly pipeline_id: string; readonly step: string; readonly visit: number }
  /** A step is to be tried again. */
  | { readonly kind: 'retry'; readonly pipeline_id: string; readonly step: string; readonly visit: number }
  /** A task has stayed in a phase for long. */
  | { readonly kind: 'stall'; readonly task_id: string; readonly phase: Phase; readonly since: number }
  /** A recoverable error is to be tried again. */
  | { readonly kind: 'unblock'; readonly task_id: string; readonly since: number }
  /** An agent that nobody waits for has not left by itself. */
  | { readonly kind: 'leave'; readonly agent_id: string }
  /** So much time is used, if nobody stops working: the budget is looked at. */
  | { readonly kind: 'budget'; readonly scope: BudgetScope }
  /** The day is over, and its budget with it. */
  | { readonly kind: 'day'; readonly day: string };

/**
 * Something that is owed to the world outside: recorded as wanted, not yet recorded as done. The key is the same however often it is
 * tried, and whoever does it makes sure that a key is done once.
 */
export type Effect =
  | { readonly kind: 'start-agent'; readonly key: string; readonly agentId: string; readonly start: number }
  | {
      readonly kind: 'send-message';
      readonly key: string;
      readonly agentId: string;
      readonly messageId: string;
      readonly text: string;
      /** It only wakes one whose turn is over. */
      readonly wakes: boolean;
    }
  | { readonly kind: 'kill-agent'; readonly key: string; readonly agentId: string; readonly reason: string }
  /** This process ends, the run goes on: a person takes the conversation over, or it is restarted. */
  | { readonly kind: 'stop-agent'; readonly key: string; readonly agentId: string; readonly start: number }
  | {
      readonly kind: 'run-command';
      readonly key: string;
      readonly commandId: string;
      readonly subject: EffectSubject;
      readonly command: string;
      readonly timeoutMs: number | null;
    }
  | {
      readonly kind: 'prepare-workspace';
      readonly key: string;
      readonly pipelineId: string;
      readonly step: string;
      readonly branch: string;
      readonly base: string | null;
    }
  | {
      readonly kind: 'wait';
      readonly key: string;
      readonly timerId: string;
      readonly due: string;
      readonly purpose: TimerPurpose;
    }
  | {
      readonly kind: 'run-checks';
      readonly key: string;
      readonly checksId: string;
      readonly taskId: string;
      readonly head: string;
      readonly checks: readonly CheckPlan[];
    }
  | {
      readonly kind: 'merge';
      readonly key: string;
      readonly mergeId: string;
      readonly taskId: string;
      readonly head: string;
      readonly branch: string;
      /** Empty: the repository's main branch. */
      readonly into: string;
      readonly method: MergeMethod;
      readonly checks: readonly CheckPlan[];
      readonly message: string;
      readonly pull?: PullRepository;
    }
  | {
      readonly kind: 'publish-pull';
      readonly key: string;
      readonly pullId: string;
      readonly taskId: string;
      readonly place: PullRepository;
      readonly branch: string;
      readonly head: string;
      /** Empty: the repository's main branch. */
      readonly into: string;
      readonly title: string;
      readonly body: string;
      readonly draft: boolean;
    }
  | {
      readonly kind: 'close-pull';
      readonly key: string;
      readonly pullId: string;
      readonly taskId: string;
      readonly repository: string;
      readonly number: number;
      readonly comment: string;
    }
  /** A cancelled task needs no worktree and no branch: they go if they hold nothing. */
  | { readonly kind: 'clear-place'; readonly key: string; readonly taskId: string; readonly branch: string }
  /** What GitHub runs is asked for, in case it could not tell us. */
  | {
      readonly kind: 'watch-checks';
      readonly key: string;
      readonly taskId: string;
      readonly head: string;
      readonly names: readonly string[];
    }
  /** The end of a workflow is sealed: from then on what led to it cannot be told otherwise. */
  | { readonly kind: 'seal'; readonly key: string; /** The entry that is to be covered. */ readonly seq: number }
  | {
      readonly kind: 'notify';
      readonly key: string;
      readonly notificationId: string;
      readonly about: 'attention' | 'warning' | 'done' | 'failed';
      readonly title: string;
      readonly message: string;
      readonly decisionId: string | null;
    };
