import type { OwnRepositoryImporter } from '../git/own/transfer-commits.ts';
import type { NotificationChannel } from '../notify/channel.ts';
import type { Workflow } from '../protocol/handoff/extend-workflow.ts';
import type { RuleFiles } from '../runbook/gates/rule-files.ts';
import type { Protection } from '../runbook/gates/protected-paths.ts';
import type { Personal } from '../runbook/personal/personal.ts';
import type { Runbook, SessionLimits, WorkspaceSettings } from '../runbook/runbook.ts';
import type { Command } from '../state/decide.ts';
import type { Here } from '../state/fleet/owner.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../state/tasks/task.ts';
import type { Programs } from '../supervisor/programs.ts';
import type { KeyedMutex, Semaphore } from './locks.ts';
import type { SpawnedSupervisor } from './processes/supervisor.ts';

export interface EffectContext {
  readonly projectId: string;
  readonly path: string;
  readonly stateDir: string;
  /** Baton's own copy of the project's commits, from which it measures, checks and merges. */
  readonly ownRepository: OwnRepositoryImporter;
  /** The daemon's environment without injected secrets. Processes get only what `allowedEnvironment` passes. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The values of injected secrets, by name, for the proxies of sandboxes. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly now: () => Date;
  readonly log: EffectLog;
  /** Reads the state after all earlier commands are durable. Undefined if the store does not respond. */
  readonly readState: <A>(look: (state: State) => A) => Promise<A | undefined>;
  /**
   * Records an outcome. `refused`: the kernel's reason. Undefined if the store does not respond; the caller must retry.
   */
  readonly submit: (command: Command, term?: number) => Promise<{ readonly refused?: string } | undefined>;
  readonly isStoreWritable: () => boolean;
  readonly onSpawned: (agentId: string, spawned: SpawnedSupervisor) => void;
  /** Stores a whole log as a blob and returns its name; null if the store refuses it. */
  readonly keepLog: (text: string) => Promise<string | null>;
  readonly seal: () => Promise<void>;
  /** Records a move of the main branch that Baton did not make. `fresh`: in a fleet, reads the remote first. */
  readonly recordMainMoves: (how?: 'fresh') => Promise<void>;
  readonly mergeSemaphore: Semaphore;
  /** Held while work on a branch starts or its worktree is removed. */
  readonly placeMutex: KeyedMutex;
  readonly startSemaphore: Semaphore;
  /** Records that a process will start in a sandbox that cannot move the main branch. */
  readonly noteIsolated: (id: string) => void;
  /** The processes that were noted, and whose start or end may not be recorded yet. */
  readonly isolated: () => ReadonlySet<string>;
  readonly programs: () => Promise<Programs>;
  /** Returns the folders below the package caches of a command, the topmost first. No process writes them. */
  readonly cachesFor: (wish: CacheWish, context: EffectContext, signal: AbortSignal) => Promise<readonly string[]>;
  readonly supervisorToken: (id: string) => string;
  readonly agentToken: (run: AgentRun) => string;
  readonly channels: (about: 'attention' | 'warning' | 'done' | 'failed') => readonly NotificationChannel[];
  /** Writes to git which claim may write to the task's worktree. */
  readonly fence: (taskId: string) => Promise<void>;
  readonly usesExitSignals: () => boolean;
  /** This host in a fleet. Undefined on a single machine, which performs every effect. */
  readonly here: () => FleetRole | undefined;
  /** Read from the runbook on each use. */
  readonly times: EffectTimes;
  readonly sessions: SessionSettings;
  /** The person's own configuration, read on each use. Sessions never see it. */
  readonly personal: PersonalSettings;
  /** The settings for the sessions of one task. A workflow keeps the runbook that it was started with. */
  readonly settingsFor: (task: Pick<Task, 'flow'> | null) => SessionSettings;
}

/** Which package caches a command of the project finds. */
export interface CacheWish {
  readonly task: Pick<Task, 'id' | 'flow'> | null;
  /** The commit that the command works on. Null: the packages of the main branch are enough. */
  readonly sha: string | null;
  /** Where the branch's own new packages go. The caller removes them after the last command that uses them. */
  readonly keptIn: string;
  /** Whether to wait for a cache that is not filled yet. An installation fetches what is missing. */
  readonly isAwaited: boolean;
}

/**
 * The host's role if others share the ledger: an agent must stop when its claim cannot be renewed, and each effect is
 * performed by its owner.
 */
export interface FleetRole extends Here {
  /** The caretaker's term, which its outcomes carry; undefined on other hosts. */
  readonly term: number | undefined;
}

export interface SessionSettings {
  readonly workspace: WorkspaceSettings;
  /** `workflow.install` */
  readonly install?: string | undefined;
  readonly limits: SessionLimits;
  readonly workflow: Workflow;
  /** The branch that the project merges into, if its runbook names one. */
  readonly into?: string | undefined;
  /**
   * Protected paths: patterns of the runbook, and prompts and scripts that agents get. Changing them needs a person's
   * consent.
   */
  readonly protection: Protection;
  /** The prompts and scripts of agents, as they were adopted. */
  readonly prompts: RuleFiles['prompts'];
  /** Variables of the daemon that every process gets besides the default list. */
  readonly envPass?: readonly string[];
  readonly filters: readonly string[];
  /** What sessions and commands can access. */
  readonly access: Pick<Runbook, 'sandbox' | 'network' | 'secrets'> & Pick<RuleFiles, 'devcontainer'>;
}

/** The person's own configuration. */
export interface PersonalSettings extends Personal {
  readonly path: string;
  /** Why the file cannot be used. While there is a problem no sandbox is chosen, because the floor is unknown. */
  readonly problem: string | null;
}

export interface EffectTimes {
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly killAfterMs: number;
  readonly renewalMs: number;
  /** An agent that prints nothing for this long is idle. Null: only the agent itself reports idleness. */
  readonly idleMs: number | null;
  /** `limits.silence`: a turn without an event for this long opens a decision. */
  readonly silenceMs: number;
  /** `limits.tool`: a longer tool call opens a decision. */
  readonly toolMs: number;
  readonly logBytes: number;
  /** How many stops of one run are blocked before the agent may stop. */
  readonly maxBlocks: number;
  /** Timeout from the start of a supervisor until its agent runs. */
  readonly startMs: number;
  readonly controlMs: number;
}

interface EffectLog {
  info(message: string, fields?: Readonly<Record<string, string | number>>): void;
  error(message: string, fields?: Readonly<Record<string, string | number>>): void;
}
