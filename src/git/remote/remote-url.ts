import { gitFailure, type GitResult } from '../run-git.ts';

/**
 * Accepts URLs of http, https, ssh, git and file, `user@host:path`, and absolute paths. Refuses what git would run as a
 * program (`ext::`), parse as an option, or look up as a remote's name.
 */
export function checkRemoteUrl(url: string): GitResult<string> {
  const isPlain = !CONTROL.test(url) && (SCHEME.test(url) || SCP.test(url) || url.startsWith('/'));
  if (isPlain) return { ok: true, value: url };
  const message = `'${hideCredentials(url).slice(0, 200)}' is not an address of a git remote that Baton can use`;
  return gitFailure(
    'git/bad-remote',
    message,
    'Use https://, ssh://, git://, file://, user@host:path, or a full path.',
  );
}

/** Returns the address to record: without a password or token. */
export function recordableRemote(url: string): GitResult<string> {
  const checked = checkRemoteUrl(url);
  return checked.ok ? { ok: true, value: withoutCredentials(checked.value) } : checked;
}

const CONTROL = /\p{Cc}/u;
const SCHEME = /^(?:https?|ssh|git|file):\/\/[^-\s][^\s]*$/i;
const SCP = /^(?:\w[\w.-]*@)?[a-z0-9][\w.-]*:(?![:-]|\/\/)[^\s]+$/i;

/** Removes logins from the URLs in a text, because git repeats a URL in its messages, including the password. */
export function hideCredentials(text: string): string {
  return text.replaceAll(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1');
}

/** Removes the password or token from a URL. The user of ssh stays. */
function withoutCredentials(url: string): string {
  return /^ssh:/i.test(url) ? url.replace(/^(ssh:\/\/[^\s/@:]*):[^\s/@]*@/i, '$1@') : hideCredentials(url);
}
