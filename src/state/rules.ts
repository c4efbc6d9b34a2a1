import type { Phase } from '../protocol/phase.ts';
import type { Price } from '../protocol/price.ts';
import type { BudgetPlan, WorkerPlan } from '../protocol/run-plan.ts';
import type { EventOf, RecordedEvent } from './event.ts';
import type { Flow } from './workflow/flow.ts';
import type { CheckPlan, MergeMethod, PullRepository } from './workflow/workflow-event.ts';

/** What the project has decided, as far as decisions about tasks depend on it. */
export interface Rules {
  /** `ci.required` is not empty: only CI completes CI_PENDING. */
  readonly ciGate: boolean;
  /** The project merges through Baton: only the merge completes READY_FOR_MERGE. */
  readonly mergeGate: boolean;
  /** How many agents may run at once; left out: as many as are asked for. */
  readonly maxAgents?: number;
  /** How long an agent that nobody waits for may take to leave; left out: see the engine's `leave`. */
  readonly leaveMs?: number;
  /** `limits.blocks`: how many stops of one run are blocked before the agent is let go; left out: see `MAX_BLOCKS`. */
  readonly maxBlocks?: number;
  /** `limits.resumes`: how often handlers resume one run before a person is asked; left out: see the engine's `run-handler`. */
  readonly maxResumes?: number;
  /** The required checks of the CI gate. */
  readonly checks?: readonly CheckPlan[];
  /** How the project merges; into the main branch where none is named. */
  readonly merge?: { readonly method: MergeMethod; readonly into: string | null };
  /** Where pull requests are opened; left out: branches are merged here. */
  readonly pulls?: PullRepository & { readonly draft: boolean };
  /** How often work may go back to the fixer before a person is asked; left out: 3. */
  readonly reviewRounds?: number;
  /** Whoever implements may also approve: the same agent, never the same session. */
  readonly sameAgentMayReview?: boolean;
  /** What a task, and a day, may use. */
  readonly budgets?: { readonly task?: BudgetPlan; readonly day?: BudgetPlan };
  /** For clients that name no price. */
  readonly prices?: readonly Price[];
  /** How long a task may stay in a phase before somebody is told. */
  readonly stallMs?: Readonly<Partial<Record<Phase, number>>>;
  /** What the runbook's workers start; left out: what was last configured. */
  readonly workers?: readonly WorkerPlan[];
  /** The rules of each adopted runbook, by its sha256. */
  readonly adopted?: ReadonlyMap<string, Rules>;
}

/** The rules of the runbook in force; before the first adoption those that were handed in. */
export function rulesInForce(state: AdoptionState, rules: Rules): Rules {
  const adoption = findAdoption(state);
  return adoption === undefined ? rules : requirePinnedRules(rules, adoption.sha256);
}

/** The rules that hold for a task: those its workflow was started with, else those in force, which are handed in. */
export function rulesFor({ flow: { runbook } }: { readonly flow: Pick<Flow, 'runbook'> }, inForce: Rules): Rules {
  return runbook === null ? inForce : requirePinnedRules(inForce, runbook);
}

/** Nothing is decided by other rules than those on record: a gate that was forgotten would be open. */
function requirePinnedRules({ adopted }: Rules, sha256: string): Rules {
  const found = adopted?.get(sha256);
  if (found === undefined) throw new Error(`the rules of the runbook ${sha256} are not loaded`);
  return found;
}

/** The runbook that a project goes by: everything with a gate or a merge, whatever its working file says meanwhile. */
export interface Adoption {
  readonly sha256: string;
  readonly commit: string | null;
  readonly committed: string | null;
  readonly by: string;
  readonly at: string;
}

/** The part of the state that says which runbook is in force. */
export interface AdoptionState {
  readonly adopted: Map<string, Adoption>;
}

const IN_FORCE = 'in-force';

/** Undefined before the first adoption. */
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

/** The runbooks that a task in this state may still need: the one in force, and those that open workflows were started with. */
export function runbooksInUse({
  adopted,
  tasks,
}: AdoptionState & { readonly tasks: ReadonlyMap<string, PinnedRunbook> }): ReadonlySet<string> {
  const found = new Set<string>();
  const inForce = adopted.get(IN_FORCE);
  if (inForce !== undefined) found.add(inForce.sha256);
  // What is completed can be reinstated, and then goes on by the same rules.
  for (const { flow } of tasks.values()) if (flow.runbook !== null) found.add(flow.runbook);
  return found;
}

interface PinnedRunbook {
  readonly flow: { readonly runbook: string | null };
}
