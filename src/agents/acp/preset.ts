import type { Adapter } from '../adapter.ts';

/** What Baton knows about one ACP agent: how to start it, log it in and limit it, and what it reports. */
export interface AcpPreset {
  /** The agent's name as shown to people. */
  readonly about: string;
  /** The name of its npm package. */
  readonly package: string;
  readonly argv: readonly string[];
  /** Always set. Switches off updates, telemetry and prompt suggestions, and lists MCP tools at once. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that the agent may inherit: names, or prefixes with `*`. */
  readonly variables: readonly string[];
  readonly home: AgentHome;
  /** A settings file with addresses of model APIs, which the network policy `model` then allows. */
  readonly providersFile?: NonNullable<Adapter['providersFile']> & { readonly folder: string };
  /**
   * The `_meta` field of the client's capabilities. The agent reports error kinds only to a client that requests them.
   */
  readonly clientMeta?: object;
  /** The method for `authenticate`, called if `session/new` asks for a login and the variable is set. */
  readonly authenticate?: { readonly method: string; readonly variable: string };
  /**
   * The setting that makes the agent ask before it uses a tool. Baton allows each request, but a budget can hold the
   * tool there.
   */
  readonly asking: PermissionSetting;
  /** The agent has no setting that makes it ask before it uses a tool. */
  readonly neverAsks?: true;
  /** Whether the agent may run commands in terminals of the driver. True if absent. */
  readonly terminals?: false;
  /** How the agent connects to Baton's MCP server. */
  readonly mcp: 'http' | 'stdio';
  /** The model must search for MCP tools before it can use them. */
  readonly searchesTools?: true;
  /** The agent's own sandbox blocks loopback or the git folder of a worktree; `asking` turns that sandbox off. */
  readonly turnsSandboxOff?: true;
  readonly usage: UsageReport;
  /** Whether `usage_update` has the cost of the whole conversation. */
  readonly cost: boolean;
  /** Whether API errors have their kind in a field: always, for some kinds, or never. */
  readonly errors: 'kind' | 'partly' | 'none';
  /** A rate limit error contains the wait that the API requests. */
  readonly namesWaits?: true;
  /** Whether `session/load` restores a conversation after the process was killed. */
  readonly resumes: boolean;
  /** Versions that passed the client cases. */
  readonly tested: readonly string[];
}

/** Paths below HOME. */
interface AgentHome {
  /** Folders that the agent writes to. */
  readonly folders: readonly string[];
  /** Files with a login. The agent may renew it. */
  readonly credentials: readonly string[];
  readonly settings: readonly string[];
}

/** One or more ways to set how an agent asks for permission. Settings that the agent does not offer are skipped. */
export interface PermissionSetting {
  /** The mode for `session/set_mode`. */
  readonly mode?: string;
  /** The option for `session/set_config_option`. */
  readonly option?: { readonly id: string; readonly value: string };
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * What the token counts of an agent cover.
 * - `message`: each request to the model, during the turn.
 * - `turn`: all requests of a turn, at its end.
 * - `conversation`: a running total since the process started, at the end of each turn.
 * - `last-request`: at the end of a turn, only the turn's last request. The sum is too small.
 */
export type UsageReport = 'message' | 'turn' | 'conversation' | 'last-request' | 'none';
