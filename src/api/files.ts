import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file so that a reader, and a crash, sees the old or the new text and never a part of it. */
export function writeFileAtomically(path: string, text: string): void {
  const draft = `${path}.draft`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  renameSync(draft, path);
}
