import type { Environment } from '../protocol/environment.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import type { Fields } from '../protocol/shape/read-unknown.ts';
import type { agentFiles, Launch } from '../supervisor/contract.ts';
import type { Programs } from '../supervisor/programs.ts';
import type { AdapterProfile } from './capabilities/capabilities.ts';

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
  /** Variables that Baton sets for an injected secret. The client's settings must not replace them. */
  readonly injected?: readonly string[];
}

/** The client's settings and logins in the user's home. An adapter may refer to them but never changes them. */
export interface UserSetup {
  readonly folder: string;
  readonly entries: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** Variables that these settings tell the client to read. */
  readonly variables?: readonly string[];
  /** Addresses of APIs in these settings. */
  readonly urls?: readonly string[];
}

export type LaunchParts = Required<
  Pick<Launch, 'argv' | 'env' | 'output' | 'input' | 'prompt' | 'finds_exit_signals' | 'files'>
> &
  Pick<Launch, 'hold_ms'> & {
    /** The client's own program, if another one starts it: a sandbox must show it. */
    readonly program?: string;
    /** Outside of the worktree, for a sandbox: what the client reads besides `files`, and folders that it writes. */
    readonly reads?: readonly string[];
    readonly writes?: readonly string[];
  };

/** The client's configuration in the user's home, of which a sandboxed session gets a copy. */
export interface ClientFiles {
  /** Absolute paths of files; those below `settingsFolder` and others, such as `~/.claude.json`. */
  readonly copied: readonly CopiedFile[];
  /** Files and folders of the client that the session sees as they are, read-only. */
  readonly read?: readonly string[];
  /** Variables that turn the client's own sandbox off, which cannot work inside another one. */
  readonly withoutOwnSandbox: Readonly<Record<string, string>>;
}

interface CopiedFile {
  readonly path: string;
  /** A login that the client renews: a changed copy is written back. */
  readonly isCredential?: true;
  /** A key that is not renewed. Like logins, a session whose key is injected does not get it. */
  readonly isSecret?: true;
  /** What the session gets of a JSON file. */
  readonly edit?: (fields: Fields) => object;
}

export type PreparedAgent =
  | { readonly ok: true; readonly launch: LaunchParts }
  | { readonly ok: false; readonly reason: string };

/** One kind of client: how it is started, resumed and hooked. Adapters neither read nor write files. */
export interface Adapter {
  /** Absent if `run` names more than one client, or a program that is none. */
  readonly profile?: AdapterProfile;
  readonly runs: (run: string) => boolean;
  readonly prepare: (plan: AgentPlan, context: AgentContext, files: ReturnType<typeof agentFiles>) => PreparedAgent;
  /** The same in the client's interactive mode, for a person's terminal; absent if it has none. */
  readonly attach?: Adapter['prepare'];
  /** Variables of the client's API and its own settings, passed to its sessions only: names, or prefixes with `*`. */
  readonly variables?: (env: Environment, user: UserSetup | undefined) => readonly string[];
  /** The client's folder in the user's home, for adapters that use the user's login. */
  readonly settingsFolder?: (env: Environment) => string;
  /** A file of that folder with the patterns that find in it the names of variables with keys, and addresses of APIs. */
  readonly providersFile?: { readonly name: string; readonly variable?: RegExp; readonly url: RegExp };
  /** For clients that read no base URL from their environment: names in `${…}` are filled in with variables of injected secrets. */
  readonly injectedFlags?: readonly string[];
  readonly clientFiles?: (env: Environment, cwd: string) => ClientFiles;
  /** Without a first message the client would wait on standard input forever. */
  readonly needsPrompt?: true;
  /** The client resets `stop_hook_active` after a tool call, so the supervisor counts blocks itself. */
  readonly hasUnreliableStopFlag?: true;
}
