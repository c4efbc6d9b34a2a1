import { createHash } from 'node:crypto';

/**
 * The stop hook as flags of one run. Codex runs only hooks that somebody has trusted, by a hash of what they do. We vouch for ours alone:
 * `--dangerously-bypass-hook-trust` would let the hooks of any repository run as well.
 */
export function stopHookFlags(command: string): readonly string[] {
  const hook = `{type="command",command=${toml(command)},timeout=${TIMEOUT_S}}`;
  const trust = `{enabled=true,trusted_hash=${toml(trustedHash(command))}}`;
  return ['--enable', 'hooks', '-c', `hooks.Stop=[{hooks=[${hook}]}]`, '-c', `hooks.state={${toml(KEY)}=${trust}}`];
}

const TIMEOUT_S = 600;

/** Where a hook comes from, its event, its group and its place in it: ours is the first that the command line names. */
const KEY = '/<session-flags>/config.toml:stop:0:0';

/** As Codex takes it: SHA-256 over the hook as JSON without spaces, the names in order. */
function trustedHash(command: string): string {
  const hooks = [{ async: false, command, timeout: TIMEOUT_S, type: 'command' }];
  return `sha256:${createHash('sha256')
    .update(JSON.stringify({ event_name: 'stop', hooks }))
    .digest('hex')}`;
}

/** A basic string of TOML escapes as JSON does. */
function toml(text: string): string {
  return JSON.stringify(text);
}
