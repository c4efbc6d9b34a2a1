import type { Unseparated } from '../protocol/handoff/judge.ts';
import type { Mission } from '../protocol/mission.ts';
import type { Phase } from '../protocol/phase.ts';
import type { Price } from '../protocol/price.ts';
import type { BudgetPlan, WorkerPlan } from '../protocol/run-plan.ts';
import type { EventOf, RecordedEvent } from './event.ts';
import type { Refusal } from './outcome.ts';
import type { Flow } from './workflow/flow.ts';
import type { CheckPlan, MergeMethod, PullRepository } from './workflow/workflow-event.ts';

export interface Rules {
  /** `ci.required` is not empty: only CI completes CI_PENDING. */
  readonly ciGate: boolean;
  /** The project merges through Baton: only the merge completes READY_FOR_MERGE. */
  readonly mergeGate: boolean;
  /** Absent if there is no limit. */
  readonly maxAgents?: number;
  /** How long an agent may take to exit after its run has ended. */
  readonly leaveMs?: number;
  /** `limits.blocks`: how many stops of one run are blocked before the agent may stop. Default: `MAX_BLOCKS`. */
  readonly maxBlocks?: number;
  /** `limits.resumes`: how often handlers resume one run before a person is asked. */
  readonly maxResumes?: number;
  /** `limits.tasks`: what sessions below one task may create. Default: `DEFAULT_TASK_LIMITS`. */
  readonly tasks?: { readonly number: number; readonly depth: number };
  readonly checks?: readonly CheckPlan[];
  /** Null to merge into the main branch. */
  readonly merge?: { readonly method: MergeMethod; readonly into: string | null };
  /** The project's repository at GitHub, from its remote: reports of checks are about it. */
  readonly repository?: string;
  /** Absent if branches are merged locally. */
  readonly pulls?: PullRepository & { readonly draft: boolean };
  /** How often work may return to the fixer before a person is asked. Default: 3. */
  readonly reviewRounds?: number;
  /** What sessions must not do, as their missions name it. */
  readonly constraints?: Mission['constraints'];
  /**
   * What happens to an approval by a client that cannot prove that it sent it; from the person's own configuration, so
   * it is no part of an adopted runbook. Default: ask.
   */
  readonly unseparated?: Unseparated;
  /** The agent that implemented may also approve, in another session. */
  readonly sameAgentMayReview?: boolean;
  readonly budgets?: { readonly task?: BudgetPlan; readonly day?: BudgetPlan };
  readonly prices?: readonly Price[];
  /** How long a task may stay in a phase before people are notified. */
  readonly stallMs?: Readonly<Partial<Record<Phase, number>>>;
  /** Why workers start no workflow: the runbook does not set what is checked, and no operator has accepted that. */
  readonly unchecked?: Refusal;
  /** Why workers start no workflow: only authors could review. */
  readonly unreviewable?: Refusal;
  /** Default: the workers that were last configured. */
  readonly workers?: readonly WorkerPlan[];
  /** The rules of each adopted runbook, by its sha256. */
  readonly adopted?: ReadonlyMap<string, Rules>;
}

/** Returns the rules in force; before the first adoption, the rules that are passed in. */
export function rulesInForce(state: AdoptionState, rules: Rules): Rules {
  const adoption = findAdoption(state);
  return adoption === undefined ? rules : requirePinnedRules(rules, adoption.sha256);
}

/** Returns the rules with which a task's workflow was started, else those in force, which are passed in. */
export function rulesFor({ flow: { runbook } }: { readonly flow: Pick<Flow, 'runbook'> }, inForce: Rules): Rules {
  return runbook === null ? inForce : requirePinnedRules(inForce, runbook);
}

/** Throws instead of falling back, because a missing gate would be open. */
function requirePinnedRules({ adopted }: Rules, sha256: string): Rules {
  const found = adopted?.get(sha256);
  if (found === undefined) throw new Error(`the rules of the runbook ${sha256} are not loaded`);
  return found;
}

/** The runbook that gates and merges follow, whatever the working file contains. */
export type Adoption = Pick<EventOf<'RunbookAdopted'>['data'], 'sha256' | 'commit' | 'committed' | 'by'> &
  Pick<RecordedEvent, 'at'>;

export interface AdoptionState {
  readonly adopted: Map<string, Adoption>;
}

const IN_FORCE = 'in-force';

/** Returns undefined before the first adoption. */
export function findAdoption({ adopted }: AdoptionState): Adoption | undefined {
  return adopted.get(IN_FORCE);
}

export function evolveAdoption(
  { adopted }: AdoptionState,
  { data, at }: EventOf<'RunbookAdopted'> & Pick<RecordedEvent, 'at'>,
): void {
  const { sha256, commit, committed, by } = data;
  adopted.set(IN_FORCE, { sha256, commit, committed, by, at });
}

/** Returns the runbook in force, and those of open workflows. */
export function runbooksInUse(
  state: AdoptionState & { readonly tasks: ReadonlyMap<string, { readonly flow: Pick<Flow, 'runbook'> }> },
): ReadonlySet<string> {
  // Completed tasks are included, because they can be reinstated and then follow the same rules.
  const pinned = [...state.tasks.values()].map(({ flow }) => flow.runbook);
  return new Set([findAdoption(state)?.sha256, ...pinned].filter((sha256) => typeof sha256 === 'string'));
}
