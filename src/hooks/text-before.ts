import type { ClientFile } from './client.ts';
import { hashOf } from './files/file-text.ts';
import { lineEndOf, removeInsertions } from './edit/insertions.ts';
import type { InstalledFile } from './record.ts';

/**
 * The text as it would be without Baton. A text that nobody has touched since is taken back to the byte; out of any other only what is
 * ours is taken, and all that others have done stays.
 */
export function textWithoutBaton(file: ClientFile, text: string, installed: InstalledFile | undefined): string {
  const exact = installed?.hash === hashOf(text) ? removeInsertions(text, installed.insertions) : undefined;
  if (exact !== undefined) return exact;
  const without = file.remove(text, (path) => installed?.made.some((made) => isWithin(path, made)) ?? true);
  return file.format === 'toml' ? reopened(text, without, installed) : without;
}

/** What we made, we made with all that is in it. */
function isWithin(path: readonly string[], made: readonly string[]): boolean {
  return made.every((key, n) => key === path[n]);
}

/** Whether anything is left that somebody could miss. */
export function isEmptySettings(text: string): boolean {
  return /^\s*(?:\{\s*\})?\s*$/.test(text);
}

/** A file whose last line had no end gets it back that way, as long as ours was the last that was added. */
function reopened(text: string, without: string, installed: InstalledFile | undefined): string {
  const lineEnd = lineEndOf(text);
  const wasOpen = installed?.insertions[0]?.text.startsWith(`${lineEnd}${lineEnd}`) === true && !installed.created;
  const wasLast = without !== text && without.endsWith(lineEnd) && text.startsWith(without);
  return wasOpen && wasLast ? without.slice(0, -lineEnd.length) : without;
}
