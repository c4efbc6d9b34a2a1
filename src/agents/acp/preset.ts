/** What Baton knows about one ACP agent: how to start it, log it in and limit it, and what it reports. */
export interface AcpPreset {
  /** The agent's name, for people. */
  readonly about: string;
  readonly argv: readonly string[];
  /** Always set: switches off updates and telemetry, and lists MCP tools at once. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that the agent may inherit: names, or prefixes with `*`. */
  readonly variables: readonly string[];
  readonly home: AgentHome;
  /** The method for `authenticate`, called if `session/new` asks for a login and the variable is set. */
  readonly authenticate?: { readonly method: string; readonly variable: string };
  readonly permissions: {
    /** The agent asks before it runs a command or changes a file. */
    readonly ask: PermissionSetting;
    /** The agent asks nothing. Undefined if ACP has no way to say it: the client must allow each request. */
    readonly allow?: PermissionSetting;
  };
  /** How it connects to Baton's MCP server. */
  readonly mcp: 'http' | 'stdio';
  readonly usage: UsageReport;
  /** Whether `usage_update` has a cost, of the whole conversation. */
  readonly cost: boolean;
  /** Whether `session/load` restores a conversation after the process was killed. */
  readonly resumes: boolean;
  /** Versions that the client cases ran with. */
  readonly tested: readonly string[];
}

/** Paths below HOME. */
interface AgentHome {
  /** Folders that the agent writes. */
  readonly folders: readonly string[];
  /** Login and settings files that it reads. */
  readonly credentials: readonly string[];
}

/** One way or more to set how an agent asks for permission. Settings that the agent does not offer are left out. */
interface PermissionSetting {
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
type UsageReport = 'message' | 'turn' | 'conversation' | 'last-request' | 'none';
