import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Environment } from '../protocol/environment.ts';
import { MODEL_CLIENTS } from '../protocol/run-plan.ts';
import { CODEX_PROVIDER_FLAGS } from '../sandbox/network/plan-injection.ts';
import type { Adapter, AgentContext } from './adapter.ts';
import { CODEX_PROFILE } from './capabilities/built-in.ts';
import {
  HOLD_MS,
  HOOK_TIMEOUT_S,
  hookCommands,
  stopHookCommand,
  TOOL_TIMEOUT_S,
  toolHookCommand,
} from './client-hooks.ts';

/** Finds API addresses and key variables in Codex's settings: custom providers and MCP servers name them. */
export const CODEX_PROVIDERS = {
  name: 'config.toml',
  url: /\b(?:[a-z]+_)?base_url\s*=\s*["']([^"'\s]{1,500})["']/g,
  variable: /^\s*(?:env_key|bearer_token_env_var)\s*=\s*["']([A-Za-z_][A-Za-z0-9_]{0,127})["']/gm,
} as const;

/**
 * Codex, one process per turn. All settings are command-line flags, which override every file. So the user's folder
 * with login, settings and conversations stays unchanged, and no file written by an agent can remove the hook.
 */
export const codexAdapter: Adapter = {
  profile: CODEX_PROFILE,
  runs: (run) => run === 'codex',
  needsPrompt: true,
  settingsFolder: codexFolder,
  projectSettings: ['.codex'],
  injectedFlags: CODEX_PROVIDER_FLAGS,
  clientFiles: (env) => ({
    copied: [
      { path: join(codexFolder(env), 'auth.json'), isCredential: true },
      { path: join(codexFolder(env), 'config.toml') },
      { path: join(codexFolder(env), 'AGENTS.md') },
      { path: join(codexFolder(env), 'AGENTS.override.md') },
    ],
    read: ['prompts', 'rules', 'skills'].map((name) => join(codexFolder(env), name)),
    // `--sandbox danger-full-access` is among its flags.
    withoutOwnSandbox: {},
  }),
  providersFile: CODEX_PROVIDERS,
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
      output: MODEL_CLIENTS.codex.stream,
      input: 'once',
      prompt: context.prompt,
      finds_exit_signals: true,
      hold_ms: HOLD_MS,
      files: [],
      commands: hookCommands(context),
    },
  }),
  attach: ({ model }, context) => ({
    ok: true,
    launch: {
      argv: [
        'codex',
        ...conversation(context),
        ...flags(model, context),
        // The same permissions as without a terminal.
        '--ask-for-approval',
        'never',
        ...(context.prompt === null ? [] : ['--', context.prompt]),
      ],
      env: {},
      output: MODEL_CLIENTS.codex.stream,
      input: 'none',
      prompt: context.prompt,
      finds_exit_signals: true,
      hold_ms: HOLD_MS,
      files: [],
      commands: hookCommands(context),
    },
  }),
};

function codexFolder(env: Environment): string {
  return env['CODEX_HOME'] ?? join(env['HOME'] ?? '', '.codex');
}

function flags(model: string | undefined, context: AgentContext): readonly string[] {
  return [
    // The sandbox blocks loopback and a worktree's git folder: an agent in it can neither report nor commit.
    '--sandbox',
    'danger-full-access',
    ...hookFlags({ Stop: stopHookCommand(context), PreToolUse: toolHookCommand(context) }),
    // Not named `baton`: Codex would merge it with a `baton` entry in the user's settings and fail to start.
    '-c',
    `mcp_servers.baton_run={url="\${BATON_URL}/mcp",bearer_token_env_var="BATON_TOKEN",tool_timeout_sec=${TOOL_TIMEOUT_S}}`,
    // A login shell would reset PATH, and `baton` would not be found.
    '-c',
    'allow_login_shell=false',
    // The agent's shell needs the token: Codex removes variables whose names look like secrets.
    '-c',
    'shell_environment_policy.ignore_default_excludes=true',
    ...(model === undefined ? [] : ['-m', model]),
  ];
}

function conversation({ isResume, conversation: id }: AgentContext): string[] {
  return isResume && id !== null ? ['resume', id] : [];
}

/**
 * The hooks of one run as flags. Codex runs only hooks that the user has trusted, identified by a hash. Baton adds
 * trust for its own hooks only: `--dangerously-bypass-hook-trust` would also run the hooks of any repository.
 */
export function hookFlags({ Stop, PreToolUse }: Readonly<Record<'Stop' | 'PreToolUse', string>>): readonly string[] {
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

/** Trusts the hook. The key names source, event, group and index: this is the first hook on the command line. */
function trust(event: string, command: string): string {
  const key = `/<session-flags>/config.toml:${event}:0:0`;
  return `${toml(key)}={enabled=true,trusted_hash=${toml(trustedHash(event, command, HOOK_TIMEOUT_S))}}`;
}

/** The hash that Codex computes: SHA-256 over the hook as compact JSON with sorted keys. */
export function trustedHash(event_name: string, command: string, timeout: number): string {
  const hook = { event_name, hooks: [{ async: false, command, timeout, type: 'command' }] };
  return `sha256:${createHash('sha256').update(JSON.stringify(hook)).digest('hex')}`;
}

/** Quotes a TOML basic string, which escapes like JSON. */
function toml(text: string): string {
  return JSON.stringify(text);
}
