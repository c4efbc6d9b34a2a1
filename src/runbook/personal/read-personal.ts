import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, sep } from 'node:path';
import { problem } from '../../protocol/shape/problem.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { decodeUtf8 } from '../../protocol/text/text-format.ts';
import type { RunbookProblem } from '../runbook.ts';
import { RUNBOOK_LIMITS } from '../shape/fields.ts';
import { type CheckedPersonal, NO_PERSONAL, parsePersonal, type Personal } from './personal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadPersonal {
  readonly path: string;
  readonly exists: boolean;
  /** The built-in values if the file is absent or has problems. */
  readonly value: Personal;
  /** While there are problems, nothing may start: the floor is unknown. */
  readonly problems: readonly RunbookProblem[];
}

/** The folder of the person's own configuration. A relative `XDG_CONFIG_HOME` is ignored, as its standard demands. */
export function findPersonalFolder({ XDG_CONFIG_HOME: xdg, HOME: home }: Environment): string {
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'baton');
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), '.config', 'baton');
}

/**
 * Reads the person's own configuration. A file inside the project is refused: its sessions could write it, and a
 * repository could bring it along, together with an `.envrc` that names it.
 */
export function readPersonal(env: Environment, projectDir?: string): ReadPersonal {
  const path = join(findPersonalFolder(env), 'config.toml');
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, exists: false, value: NO_PERSONAL, problems: [] };
  const checked = readChecked(path, stat, projectDir);
  return checked.ok
    ? { path, exists: true, value: checked.value, problems: [] }
    : { path, exists: true, value: NO_PERSONAL, problems: checked.problems };
}

function readChecked(path: string, stat: Stats, projectDir: string | undefined): CheckedPersonal {
  if (!stat.isFile()) return refused(path, 'it is not a file', 'Move it away.');
  if (stat.size > RUNBOOK_LIMITS.fileBytes) return refused(path, 'it is too large', 'Shorten it.');
  try {
    if (projectDir !== undefined && isBelow(path, projectDir))
      return refused(path, 'it is inside the project', 'Unset XDG_CONFIG_HOME, then: baton down && baton up');
    const text = decodeUtf8(readFileSync(path));
    if (text === undefined) return refused(path, 'it is not valid UTF-8', 'Save the file as UTF-8.');
    return parsePersonal({ path, text });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const reason = code === 'EACCES' ? 'permission denied' : code;
    return refused(path, reason, `See who owns it: ls -l ${shellWord(path)}`);
  }
}

function refused(path: string, reason: string, hint: string): CheckedPersonal {
  return {
    ok: false,
    problems: [{ ...problem('unreadable-file', `cannot read ${path}: ${reason}`, hint), file: path }],
  };
}

/** Compares real paths: a link to a file of the project is such a file too. */
function isBelow(path: string, folder: string): boolean {
  const [inner, outer] = [realpathSync(path), realpathSync(folder)];
  return inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`) || path.startsWith(`${folder}${sep}`);
}
