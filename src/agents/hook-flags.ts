import { createHash } from 'node:crypto';
import { HOOK_TIMEOUT_S } from './stop-hook-command.ts';

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
