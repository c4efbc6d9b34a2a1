import type { Adapter } from '../adapter.ts';

/** What Baton knows about one ACP agent: how to start it, log it in and limit it, and what it reports. */
export interface AcpPreset {
  /** The agent's name, for people. */
  readonly about: string;
  /** On npm. */
  readonly package: string;
  readonly argv: readonly string[];
  /** Always set: switches off updates, telemetry and requests for what a user might type next; lists MCP tools at once. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that the agent may inherit: names, or prefixes with `*`. */
  readonly variables: readonly string[];
  readonly home: AgentHome;
  /** A settings file that names addresses of model APIs, which the network policy `model` allows. */
  readonly providersFile?: NonNullable<Adapter['providersFile']> & { readonly folder: string };
  /** `_meta` of the client's capabilities: the agent reports kinds of errors only to a client that asks for them. */
  readonly clientMeta?: object;
  /** The method for `authenticate`, called if `session/new` asks for a login and the variable is set. */
  readonly authenticate?: { readonly method: string; readonly variable: string };
  /** The setting that makes it ask before it uses a tool: at a request that Baton allows, a budget can hold the tool. */
  readonly asking: PermissionSetting;
  /** No setting makes it ask before it uses a tool. */
  readonly neverAsks?: true;
  /** Whether it may run commands in terminals of the driver; absent: yes. */
  readonly terminals?: false;
  /** How it connects to Baton's MCP server. */
  readonly mcp: 'http' | 'stdio';
  /** The model must search for MCP tools before it can use them. */
  readonly searchesTools?: true;
  /** Its own sandbox blocks loopback or the git folder of a worktree, and `asking` turns it off. */
  readonly turnsSandboxOff?: true;
  readonly usage: UsageReport;
  /** Whether `usage_update` has a cost, of the whole conversation. */
  readonly cost: boolean;
  /** Whether errors of the model's API have their kind in a field: always, for some kinds, or never. */
  readonly errors: 'kind' | 'partly' | 'none';
  /** The error of a rate limit contains the wait that the API names. */
  readonly namesWaits?: true;
  /** Whether `session/load` restores a conversation after the process was killed. */
  readonly resumes: boolean;
  /** Versions that the client cases ran with. */
  readonly tested: readonly string[];
}

/** Paths below HOME. */
interface AgentHome {
  /** Folders that the agent writes. */
  readonly folders: readonly string[];
  /** Files with a login, which the agent may renew. */
  readonly credentials: readonly string[];
  readonly settings: readonly string[];
}

/** One way or more to set how an agent asks for permission. Settings that the agent does not offer are left out. */
export interface PermissionSetting {
  /** For `session/set_mode`. */
  readonly mode?: string;
  /** For `session/set_config_option`. */
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
