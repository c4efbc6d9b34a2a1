import type { Environment } from '../protocol/environment.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import type { Fields } from '../protocol/shape/read-unknown.ts';
import type { agentFiles, Launch } from '../supervisor/contract.ts';
import type { Programs } from '../supervisor/programs.ts';
import type { AdapterProfile } from './capabilities/capabilities.ts';

/** What an agent is started with, besides its plan. All templates are expanded. */
export interface AgentContext {
  readonly agentId: string;
  readonly start: number;
  /** The prompt at the first start; later the message to resume with, or null. */
  readonly prompt: string | null;
  readonly isResume: boolean;
  /** The client's id of the conversation; null if unknown. */
  readonly conversation: string | null;
  readonly stateDir: string;
  readonly cwd: string;
  /** The text of the script that `run` names. */
  readonly script?: string;
  readonly programs: Programs;
  readonly isAttached?: boolean;
  readonly user?: UserSetup;
  /** Variables that Baton sets for an injected secret. The client's settings must not replace them. */
  readonly injected?: readonly string[];
}

/** The client's settings and logins in the user's home. An adapter may refer to them but never changes them. */
export interface UserSetup {
  readonly folder: string;
  readonly entries: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** Names of variables that these settings tell the client to read. */
  readonly variables?: readonly string[];
  /** API addresses in these settings. */
  readonly urls?: readonly string[];
}

export type LaunchParts = Required<
  Pick<Launch, 'argv' | 'env' | 'output' | 'input' | 'prompt' | 'finds_exit_signals' | 'files'>
> &
  Pick<Launch, 'hold_ms'> & {
    /** The client's own program if another program starts it. A sandbox must show it. */
    readonly program?: string;
    /**
     * Paths outside the worktree for a sandbox: what the client reads besides `files`, and folders that it writes to.
     */
    readonly reads?: readonly string[];
    readonly writes?: readonly string[];
    /** Shell commands that the client runs by itself: hooks, and the helper that returns its key. */
    readonly commands?: readonly string[];
  };

/** The client's configuration in the user's home. A sandboxed session gets a copy of it. */
export interface ClientFiles {
  /** Absolute paths of files: those below `settingsFolder`, and others such as `~/.claude.json`. */
  readonly copied: readonly CopiedFile[];
  /** Files and folders of the client that the session sees in place, read-only. */
  readonly read?: readonly string[];
  /** Variables that turn off the client's own sandbox, because it cannot run inside another one. */
  readonly withoutOwnSandbox: Readonly<Record<string, string>>;
}

interface CopiedFile {
  readonly path: string;
  /** A login that the client renews. A changed copy is written back. */
  readonly isCredential?: true;
  /** A key that is not renewed. Like a login, it is withheld from a session whose key is injected. */
  readonly isSecret?: true;
  /** Reduces a JSON file to what the session gets. */
  readonly edit?: (fields: Fields) => object;
}

export type PreparedAgent =
  | { readonly ok: true; readonly launch: LaunchParts }
  | { readonly ok: false; readonly reason: string };

/** One kind of client: how it is started, resumed and hooked. Adapters neither read nor write files. */
export interface Adapter {
  /** Absent if `run` may start more than one client or names a program that is not a client. */
  readonly profile?: AdapterProfile;
  readonly runs: (run: string) => boolean;
  readonly prepare: (plan: AgentPlan, context: AgentContext, files: ReturnType<typeof agentFiles>) => PreparedAgent;
  /** Prepares the client's interactive mode, for a person's terminal. Absent if the client has none. */
  readonly attach?: Adapter['prepare'];
  /** Variables of the client's API and its own settings, passed only to its sessions: names, or prefixes with `*`. */
  readonly variables?: (env: Environment, user: UserSetup | undefined) => readonly string[];
  /** The client's folder in the user's home, for adapters that use the user's login. */
  readonly settingsFolder?: (env: Environment) => string;
  /** A file in that folder, with patterns that find the names of key variables and the API addresses in it. */
  readonly providersFile?: { readonly name: string; readonly variable?: RegExp; readonly url: RegExp };
  /**
   * Flags for clients that read no base URL from their environment. Names in `${…}` are replaced by variables of
   * injected secrets.
   */
  readonly injectedFlags?: readonly string[];
  /**
   * Files and folders in the working folder, or in one above, whose settings and variables the client obeys: with them a
   * branch could run programs beside its judge's client, which therefore does not see them.
   */
  readonly projectSettings?: readonly string[];
  /** The variable with the folder in which the client's shell leaves files for the client. */
  readonly shellTmpVariable?: string;
  readonly clientFiles?: (env: Environment, cwd: string) => ClientFiles;
  /** Without a first message the client would wait on standard input forever. */
  readonly needsPrompt?: true;
  /** The client resets `stop_hook_active` after a tool call, so the supervisor counts blocks itself. */
  readonly hasUnreliableStopFlag?: true;
}
