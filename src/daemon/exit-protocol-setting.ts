import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads `exit_protocol` of a repository's `baton.toml`, again whenever the file changes. Only this key, only at the top level,
 * and only the words `true` and `false` count: the runbook reader, which knows all of TOML, will take its place.
 */
export function exitProtocolSetting(repository: string): () => boolean {
  const path = join(repository, 'baton.toml');
  let seen = '';
  let isOn = false;
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    const now = found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (now !== seen) {
      isOn = now !== '' && parseExitProtocol(readFileSync(path, 'utf8'));
      seen = now;
    }
    return isOn;
  };
}

export function parseExitProtocol(toml: string): boolean {
  let closing: string | undefined;
  for (const line of toml.split(/\r?\n/)) {
    if (closing !== undefined) {
      if (line.includes(closing)) closing = undefined;
      continue;
    }
    // The first table ends the top level.
    if (/^\s*\[/.test(line)) return false;
    const value = /^\s*(?:exit_protocol|"exit_protocol"|'exit_protocol')\s*=\s*(.*)$/.exec(line)?.[1];
    if (value !== undefined) return /^true\s*(?:#.*)?$/.test(value);
    closing = openedString(line);
  }
  return false;
}

/** The quotes that end a string over several lines, where this line begins one and does not end it. */
function openedString(line: string): string | undefined {
  const opened = /=\s*("""|''')/.exec(line);
  const quotes = opened?.[1];
  if (opened === null || quotes === undefined) return undefined;
  return line.slice(opened.index + opened[0].length).includes(quotes) ? undefined : quotes;
}
