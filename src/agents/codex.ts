import { createHash } from 'node:crypto';
import type { Adapter, AgentContext } from './adapter.ts';
import { HOLD_MS, HOOK_TIMEOUT_S, stopHookCommand, toolHookCommand } from './client-hooks.ts';

/**
 * Codex, one process a turn. Everything of ours is on its command line, which counts more than any file: the user's own folder with its
 * login, its settings and its conversations stays as it is, and no file that an agent writes there takes the hook away.
 */
export const codexAdapter: Adapter = {
  runs: (run) => run === 'codex',
  needsPrompt: true,
  // A provider of the user's own names the variable with its key in `config.toml`.
  variables: (_, user) => ['OPENAI_*', 'CODEX_*', 'AZURE_OPENAI_*', 'RUST_LOG', ...(user?.variables ?? [])],
  prepare: ({ model }, context) => ({
    ok: true,
    launch: {
      argv: [
        'codex',
        'exec',
        '--json',
        '--skip-git-repo-check',
        ...flags(model, context),
        ...conversation(context),
        '-',
      ],
      env: {},
      output: 'codex',
      input: 'once',
      prompt: context.prompt,
      finds_exit_signals: true,
      hold_ms: HOLD_MS,
      files: [],
    },
  }),
  attach: ({ model }, context) => ({
    ok: true,
    launch: {
      argv: [
        'codex',
        ...conversation(context),
        ...flags(model, context),
        // As without a terminal: what it may do does not change because somebody looks.
        '--ask-for-approval',
        'never',
        ...(context.prompt === null ? [] : ['--', context.prompt]),
      ],
      env: {},
      output: 'codex',
      input: 'none',
      prompt: context.prompt,
      finds_exit_signals: true,
      hold_ms: HOLD_MS,
      files: [],
    },
  }),
};

function flags(model: string | undefined, context: AgentContext): readonly string[] {
  return [
    // Its sandbox shuts out loopback and the git folder of a worktree: an agent in it can neither report nor commit.
    '--sandbox',
    'danger-full-access',
    ...hookFlags({ Stop: stopHookCommand(context), PreToolUse: toolHookCommand(context) }),
    // Not `baton`: what a person has under that name in their own settings would be mixed with this, and Codex would not start.
    '-c',
    'mcp_servers.baton_run={url="${BATON_URL}/mcp",bearer_token_env_var="BATON_TOKEN"}',
    // A login shell would set its own PATH, and `baton` would not be on it.
    '-c',
    'allow_login_shell=false',
    // The agent reaches Baton from its shell: the variables whose names look like secrets must get there.
    '-c',
    'shell_environment_policy.ignore_default_excludes=true',
    ...(model === undefined ? [] : ['-m', model]),
  ];
}

function conversation({ isResume, conversation: id }: AgentContext): string[] {
  return isResume && id !== null ? ['resume', id] : [];
}

/** Commands by the event that runs them. */
export interface HookCommands {
  readonly Stop: string;
  readonly PreToolUse: string;
}

/**
 * The hooks as flags of one run. Codex runs only hooks that the user has trusted, identified by a hash. Baton trusts its own hooks and no others:
 * `--dangerously-bypass-hook-trust` would let the hooks of any repository run as well.
 */
export function hookFlags({ Stop, PreToolUse }: HookCommands): readonly string[] {
  const trusted = [trust('stop', Stop), trust('pre_tool_use', PreToolUse)];
  return [
    '--enable',
    'hooks',
    '-c',
    `hooks.Stop=${hooks(Stop)}`,
    '-c',
    `hooks.PreToolUse=${hooks(PreToolUse)}`,
    '-c',
    `hooks.state={${trusted.join(',')}}`,
  ];
}

function hooks(command: string): string {
  return `[{hooks=[{type="command",command=${toml(command)},timeout=${HOOK_TIMEOUT_S}}]}]`;
}

/** A key says where a hook comes from, its event, its group and its place in it: ours is the first that the command line names. */
function trust(event: string, command: string): string {
  const key = `/<session-flags>/config.toml:${event}:0:0`;
  return `${toml(key)}={enabled=true,trusted_hash=${toml(trustedHash(event, command))}}`;
}

/** As Codex takes it: SHA-256 over the hook as JSON without spaces, the names in order. */
function trustedHash(event_name: string, command: string): string {
  const handlers = [{ async: false, command, timeout: HOOK_TIMEOUT_S, type: 'command' }];
  return `sha256:${createHash('sha256')
    .update(JSON.stringify({ event_name, hooks: handlers }))
    .digest('hex')}`;
}

/** A basic string of TOML escapes as JSON does. */
function toml(text: string): string {
  return JSON.stringify(text);
}
