import type { AgentRun } from '../state/runs/agent-run.ts';
import type { Command } from '../state/decide.ts';
import type { State } from '../state/state.ts';
import type { Channel } from './notify.ts';

/** What effects may touch of the daemon around them. */
export interface World {
  readonly projectId: string;
  /** The top of the project's repository. */
  readonly path: string;
  readonly stateDir: string;
  /** The daemon's own; what it starts inherits it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  readonly log: EffectLog;
  /** Looks at the state, once everything that was said before is durable. Undefined where the store does not answer. */
  readonly read: <A>(look: (state: State) => A) => Promise<A | undefined>;
  /** How it went, as a command. Undefined: the store does not answer, and it must be said again. */
  readonly tell: (command: Command) => Promise<Told | undefined>;
  readonly supervisorToken: (id: string) => string;
  readonly agentToken: (run: AgentRun) => string;
  readonly channels: () => readonly Channel[];
  /** Whether exit signals count in this project. */
  readonly usesExitSignals: () => boolean;
  readonly times: EffectTimes;
}

export interface EffectTimes {
  /** Between SIGTERM and SIGKILL. */
  readonly killAfterMs: number;
  /** How often a supervisor renews its claim. */
  readonly renewalMs: number;
  /** How long a supervisor may take until its agent runs. */
  readonly startMs: number;
  /** How long it may take to pass on a word. */
  readonly controlMs: number;
}

export interface Told {
  /** Undefined where it was recorded, or was known already. */
  readonly refused?: string;
}

export interface EffectLog {
  info(message: string, fields?: Readonly<Record<string, string | number>>): void;
  error(message: string, fields?: Readonly<Record<string, string | number>>): void;
}
