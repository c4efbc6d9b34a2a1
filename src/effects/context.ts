import type { OwnRepositoryImporter } from '../git/own/transfer-commits.ts';
import type { NotificationChannel } from '../notify/channel.ts';
import type { Workflow } from '../protocol/handoff/extend-workflow.ts';
import type { Prompts } from '../runbook/gates/gate-fields.ts';
import type { Protection } from '../runbook/gates/protected-paths.ts';
import type { SessionLimits, WorkspaceSettings } from '../runbook/runbook.ts';
import type { Command } from '../state/decide.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../state/tasks/task.ts';
import type { Programs } from '../supervisor/programs.ts';
import type { KeyedMutex, Semaphore } from './locks.ts';
import type { SpawnedSupervisor } from './processes/supervisor.ts';

/** What effects may touch of the daemon around them. */
export interface EffectContext {
  readonly projectId: string;
  /** The top of the project's repository. */
  readonly path: string;
  readonly stateDir: string;
  /** Baton's own copy of the project's commits: what is measured, checked and merged is read from there. */
  readonly ownRepository: OwnRepositoryImporter;
  /** The daemon's own. What it starts gets only what `allowedEnvironment` lets through. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  readonly log: EffectLog;
  /** Looks at the state, once everything that was said before is durable. Undefined where the store does not answer. */
  readonly readState: <A>(look: (state: State) => A) => Promise<A | undefined>;
  /** How it went, as a command. Undefined: the store does not answer, and it must be said again. */
  readonly submit: (command: Command) => Promise<SubmitOutcome | undefined>;
  /** Whether outcomes can be recorded now. */
  readonly isStoreWritable: () => boolean;
  /** A supervisor was started by this process: its end will be heard of. */
  readonly onSpawned: (agentId: string, spawned: SpawnedSupervisor) => void;
  /** Keeps a log whole, and gives back its name; null where the store does not take it. */
  readonly keepLog: (text: string) => Promise<string | null>;
  /** Seals the ledger over everything so far. */
  readonly seal: () => Promise<void>;
  /** Records a move of the main branch that Baton did not make, if there was one. */
  readonly recordMainMoves: () => Promise<void>;
  /** One merge at a time. */
  readonly mergeSemaphore: Semaphore;
  /** One at a time begins to work on a branch, or removes its worktree. */
  readonly placeMutex: KeyedMutex;
  /** Processes are started a few at a time. */
  readonly startSemaphore: Semaphore;
  readonly programs: () => Promise<Programs>;
  readonly supervisorToken: (id: string) => string;
  readonly agentToken: (run: AgentRun) => string;
  /** The ways to reach a person about this. */
  readonly channels: (about: 'attention' | 'warning' | 'done' | 'failed') => readonly NotificationChannel[];
  /** Tells git which claim may write where this task is worked on. */
  readonly fence: (taskId: string) => Promise<void>;
  /** The project's flag for exit signals. */
  readonly usesExitSignals: () => boolean;
  /** As the runbook has them now. */
  readonly times: EffectTimes;
  readonly sessions: SessionSettings;
  /** What holds for the sessions of one task: a workflow keeps the runbook that it was started with. */
  readonly settingsFor: (task: Pick<Task, 'flow'> | null) => SessionSettings;
}

/** What holds for every session that Baton starts. */
export interface SessionSettings {
  readonly workspace: WorkspaceSettings;
  readonly limits: SessionLimits;
  readonly workflow: Workflow;
  /** The branch that the project merges into, if its runbook names one. */
  readonly into?: string | undefined;
  /** Paths that a merge asks a person about: patterns of the runbook, and prompts and scripts that agents are given. */
  readonly protection: Protection;
  /** The pinned prompt files; null: nothing is pinned, and they are read from the project. */
  readonly prompts: Prompts | null;
  /** Variables of the daemon that everything which Baton starts gets besides the default list. */
  readonly envPass?: readonly string[];
  /** The git filters that may run when a commit is checked out. */
  readonly filters: readonly string[];
}

export interface EffectTimes {
  /** Between SIGTERM and SIGKILL. */
  readonly killAfterMs: number;
  /** How often a supervisor renews its claim. */
  readonly renewalMs: number;
  /** An agent that prints nothing for so long is idle; null: only its own word counts. */
  readonly idleMs: number | null;
  /** `limits.silence`: no event in a turn for so long opens a decision. */
  readonly silenceMs: number;
  /** `limits.tool`: so does a tool call that takes longer than this. */
  readonly toolMs: number;
  /** What is kept of the output of an agent or a command. */
  readonly logBytes: number;
  /** How many stops of one run are blocked before the agent is let go. */
  readonly maxBlocks: number;
  /** How long a supervisor may take until its agent runs. */
  readonly startMs: number;
  /** How long it may take to pass on a word. */
  readonly controlMs: number;
}

export interface SubmitOutcome {
  /** Undefined where it was recorded, or was known already. */
  readonly refused?: string;
}

export interface EffectLog {
  info(message: string, fields?: Readonly<Record<string, string | number>>): void;
  error(message: string, fields?: Readonly<Record<string, string | number>>): void;
}
