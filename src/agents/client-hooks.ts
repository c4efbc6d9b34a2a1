/** Hooks of one run, in the format of Claude Code's settings. What is given here cannot be switched off from a project's settings. */
export interface ClaudeSettings {
  readonly disableAllHooks: false;
  readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly HttpHook[] }[]>>;
}

export interface HttpHook {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
  /** Seconds; left out: 600. */
  readonly timeout?: number;
}

/**
 * All hooks lead to the supervisor, over HTTP: no process, half a millisecond. No secret is in them, since clients quote hooks to
 * the model: the token comes from the environment.
 */
export function claudeSettings(): ClaudeSettings {
  const hooks = Object.entries(EVENTS).map(([event, path]) => [event, [{ hooks: [httpHook(path)] }]] as const);
  return { disableAllHooks: false, hooks: { ...Object.fromEntries(hooks), PreToolUse: [BEFORE_TOOLS] } };
}

/** What the supervisor listens for. */
const EVENTS = {
  Stop: 'stop',
  StopFailure: 'stop-failure',
  Notification: 'notification',
  PostToolUse: 'post-tool-use',
} as const;

/** Held while a budget is used up; the supervisor ends that long before the client would. */
const BEFORE_TOOLS = { hooks: [{ ...httpHook('pre-tool-use'), timeout: 600 }] };

export function httpHook(path: string): HttpHook {
  return {
    type: 'http',
    url: `\${BATON_URL}/hook/${path}`,
    headers: { authorization: 'Bearer $BATON_TOKEN' },
    allowedEnvVars: ['BATON_TOKEN'],
  };
}
