import type { Environment } from '../protocol/environment.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import type { agentFiles, Launch } from '../supervisor/contract.ts';
import type { Programs } from '../supervisor/programs.ts';

/** What an agent is started with, besides its plan. All templates are filled in. */
export interface AgentContext {
  readonly agentId: string;
  readonly start: number;
  /** The prompt at the first start; later the message to resume with, or null. */
  readonly prompt: string | null;
  readonly isResume: boolean;
  /** The client's id of that conversation; null if unknown. */
  readonly conversation: string | null;
  readonly stateDir: string;
  readonly cwd: string;
  /** Base of the runbook's relative paths, absolute. */
  readonly projectDir: string;
  readonly programs: Programs;
  readonly isAttached?: boolean;
  readonly user?: UserSetup;
}

/** The client's settings and logins in the user's home. An adapter may refer to them but never changes them. */
export interface UserSetup {
  readonly folder: string;
  readonly entries: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** Variables that these settings tell the client to read. */
  readonly variables?: readonly string[];
}

export type LaunchParts = Required<
  Pick<Launch, 'argv' | 'env' | 'output' | 'input' | 'prompt' | 'finds_exit_signals' | 'files'>
> &
  Pick<Launch, 'hold_ms'>;

export type PreparedAgent =
  | { readonly ok: true; readonly launch: LaunchParts }
  | { readonly ok: false; readonly reason: string };

/** One kind of client: how it is started, resumed and hooked. Adapters neither read nor write files. */
export interface Adapter {
  readonly runs: (run: string) => boolean;
  readonly prepare: (plan: AgentPlan, context: AgentContext, files: ReturnType<typeof agentFiles>) => PreparedAgent;
  /** The same in the client's interactive mode, for a person's terminal; absent if it has none. */
  readonly attach?: Adapter['prepare'];
  /** Variables of the client's API and its own settings, passed to its sessions only: names, or prefixes with `*`. */
  readonly variables?: (env: Environment, user: UserSetup | undefined) => readonly string[];
  /** The client's folder in the user's home, for adapters that use the user's login. */
  readonly settingsFolder?: (env: Environment) => string;
  /** A file of that folder that names variables with keys, and the pattern that finds their names. */
  readonly variablesFile?: { readonly name: string; readonly pattern: RegExp };
  /** Without a first message the client would wait on standard input forever. */
  readonly needsPrompt?: true;
  /** The client resets `stop_hook_active` after a tool call, so the supervisor counts blocks itself. */
  readonly hasUnreliableStopFlag?: true;
}
