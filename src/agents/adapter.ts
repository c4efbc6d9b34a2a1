import type { Environment } from '../protocol/environment.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import type { agentFiles, Launch } from '../supervisor/contract.ts';
import type { Programs } from '../supervisor/programs.ts';

/** What an agent is started with, apart from its plan: everything is settled, no template is left. */
export interface AgentContext {
  readonly agentId: string;
  /** Process number, starting at 1. */
  readonly start: number;
  /** What it is told: the prompt at the first start; later what the conversation goes on with, or null. */
  readonly prompt: string | null;
  /** It goes on in the conversation that an earlier process of the same agent had. */
  readonly isResume: boolean;
  /** The client's own id of that conversation, as it was last heard; null where there is none. */
  readonly conversation: string | null;
  readonly stateDir: string;
  /** Where it works, absolute. */
  readonly cwd: string;
  /** What paths in a runbook are relative to, absolute. */
  readonly projectDir: string;
  readonly programs: Programs;
  /** A person has it in their terminal. */
  readonly isAttached?: boolean;
  /** What the user has set up for that client; left out where nobody looked. */
  readonly user?: UserSetup;
}

/** The folder of a client's own settings and logins, which an adapter may point to but never changes. */
export interface UserSetup {
  readonly folder: string;
  /** Names of the files in it. */
  readonly entries: readonly string[];
  /** What its `settings.json` says. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Variables that those settings tell the client to read. */
  readonly variables?: readonly string[];
}

/** The part of a launch that depends on the client; who starts it fills in the rest. */
export type LaunchParts = Required<
  Pick<Launch, 'argv' | 'env' | 'output' | 'input' | 'prompt' | 'finds_exit_signals' | 'files'>
> &
  Pick<Launch, 'hold_ms'>;

export type PreparedAgent =
  | { readonly ok: true; readonly launch: LaunchParts }
  /** It cannot be started, and why. */
  | { readonly ok: false; readonly reason: string };

/** One kind of client: how it is started and resumed, and how it gets its hooks. Nothing here touches the disk or the user's own settings. */
export interface Adapter {
  /** Whether this `run` of a runbook means it. */
  readonly runs: (run: string) => boolean;
  readonly prepare: (plan: AgentPlan, context: AgentContext, files: ReturnType<typeof agentFiles>) => PreparedAgent;
  /** The same in its own interactive mode, for a person's terminal; left out where it has none. */
  readonly attach?: Adapter['prepare'];
  /** Variables of its model's API and its own settings, which pass to its sessions and to nothing else: names, or prefixes with `*`. */
  readonly variables?: (env: Environment, user: UserSetup | undefined) => readonly string[];
  /** Without a first message it waits for one on standard input, for ever. */
  readonly needsPrompt?: true;
  /** Its `stop_hook_active` is false again after a tool call: the supervisor counts blocks by itself. */
  readonly hasUnreliableStopFlag?: true;
}
