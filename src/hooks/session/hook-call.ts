/** What a client tells its hooks, as far as it is needed here. What cannot be read says nothing. */
export interface HookInput {
  readonly conversation: string;
  readonly cwd: string;
  /** It goes on because a stop hook blocked it before. */
  readonly isHookActive: boolean;
  /** Why a session begins: startup, resume, clear, compact. */
  readonly source: string;
  /** Why it ends: clear, logout, exit, … */
  readonly reason: string;
  /** What the turn that ends was asked; Gemini CLI names it. */
  readonly prompt: string;
}

export function readHookInput(bytes: Uint8Array, cwd: string): HookInput {
  const fields = parse(bytes);
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    conversation: text('session_id'),
    cwd: text('cwd') || cwd,
    isHookActive: fields['stop_hook_active'] === true,
    source: text('source'),
    reason: text('reason'),
    prompt: text('prompt'),
  };
}

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** What a hook hands back: words for the model at the start, a block at a stop, and one line for the person. */
export interface HookOutput {
  readonly context?: string;
  readonly block?: string;
  readonly note?: string;
}

/** As all three clients read it. Nothing at all where there is nothing to say. */
export function renderHookOutput({ context, block, note }: HookOutput): string {
  const output = {
    ...(block === undefined ? {} : { decision: 'block', reason: block }),
    ...(context === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: context } }),
    ...(note === undefined ? {} : { systemMessage: `Baton: ${note}` }),
  };
  return Object.keys(output).length === 0 ? '' : JSON.stringify(output);
}
