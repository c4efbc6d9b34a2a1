import { join } from 'node:path';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import type { Adapter, AgentContext, PreparedAgent } from '../adapter.ts';
import { claudeSettings } from '../client-hooks.ts';
import { quoteForShell } from '../../protocol/text/quote-for-shell.ts';

/**
 * `scripted FILE` plays a script; `scripted` alone takes its prompt as the script. `--command-hook` before the file
 * uses a command as stop hook instead of HTTP. It behaves like Claude Code in every respect that matters here: hooks,
 * JSON lines, messages on standard input, resumable conversations.
 */
export const scriptedAdapter: Adapter = {
  runs: (run) => /^scripted(?:\s|$)/.test(run),
  prepare: (plan, context, { folder }) => prepared(plan, context, folder, ['--stream-json']),
  // Reads plain lines. The script starts with the person's first message.
  attach: (plan, context, { folder }) => prepared(plan, context, folder, ['--prompted', '--terminal']),
};

function prepared(
  { run }: AgentPlan,
  { agentId, prompt, script: adopted, isResume, programs }: AgentContext,
  folder: string,
  flags: readonly string[],
): PreparedAgent {
  const { named, isCommandHook } = parseRun(run);
  const script = join(folder, 'script.yaml');
  const brings = named === '' && !isResume;
  if (brings && prompt === null) return { ok: false, reason: NO_SCRIPT };
  const settings = join(folder, 'settings.json');
  const firstMessage = brings ? null : prompt;
  const waits = firstMessage === null || flags.includes('--prompted') ? [] : ['--prompted'];
  // A separate folder, because the agent's folder also holds tokens.
  const kept = join(folder, 'kept');
  const files = ['--settings', settings, '--keep', kept];
  const conversation = isResume ? ['--resume', agentId] : ['--session-id', agentId];
  return {
    ok: true,
    launch: {
      argv: [process.execPath, programs.scripted, ...flags, ...waits, ...files, ...conversation, script],
      env: {},
      output: 'stream-json',
      input: 'stream-json',
      prompt: firstMessage,
      finds_exit_signals: true,
      files: [
        { path: settings, content: JSON.stringify(settingsOf(agentId, isCommandHook), null, 2) },
        ...(brings ? [{ path: script, content: prompt ?? '' }] : []),
        ...(adopted === undefined ? [] : [{ path: script, content: adopted }]),
      ],
      reads: [script],
      commands: [stopCommand(agentId)],
      writes: [kept],
    },
  };
}

const COMMAND_HOOK = /^--command-hook(?=\s|$)/;

function parseRun(run: string): { readonly named: string; readonly isCommandHook: boolean } {
  const words = run.slice('scripted'.length).trim();
  return { named: words.replace(COMMAND_HOOK, '').trim(), isCommandHook: COMMAND_HOOK.test(words) };
}

function settingsOf(agentId: string, isCommandHook: boolean): object {
  const settings = claudeSettings();
  if (!isCommandHook) return settings;
  const stop = { type: 'command', command: stopCommand(agentId) };
  return { ...settings, hooks: { ...settings.hooks, Stop: [{ hooks: [stop] }] } };
}

function stopCommand(agentId: string): string {
  return `baton agent hook stop ${quoteForShell(agentId)}`;
}

const NO_SCRIPT =
  'run = "scripted" needs a script: write `run = "scripted FILE.yaml"`, or put the script into `prompt_file`';
