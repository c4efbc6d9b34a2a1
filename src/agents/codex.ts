import type { Adapter, AgentContext } from './adapter.ts';
import { HOLD_MS, stopHookCommand, toolHookCommand } from './stop-hook-command.ts';
import { hookFlags } from './hook-flags.ts';

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
