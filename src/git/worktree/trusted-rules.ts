import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { gitText } from '../run-git.ts';

/** Rules of what git ignores that lie outside of all commits, by whether people wrote them. */
export interface RuleTrust {
  readonly trusted: readonly string[];
  /** They came while agents had worktrees, and so perhaps from them. */
  readonly distrusted: readonly string[];
}

/**
 * What is to be thought of the rules that are there now. The first ones are people's; later ones only where nobody worked in a worktree
 * of Baton since the last look. Once distrusted, a rule stays so.
 */
export function judgeRules(known: RuleTrust | undefined, rules: readonly string[], hasWorked: boolean): RuleTrust {
  if (known === undefined) return { trusted: [...new Set(rules)], distrusted: [] };
  const fresh = [...new Set(rules)].filter((rule) => ![...known.trusted, ...known.distrusted].includes(rule));
  if (fresh.length === 0) return known;
  const { trusted, distrusted } = known;
  return hasWorked
    ? { trusted, distrusted: [...distrusted, ...fresh] }
    : { trusted: [...trusted, ...fresh], distrusted };
}

/** The lines of the repository's `info/exclude`, and of the file of whoever owns the machine, which is weaker and comes first. */
export async function readOutsideRules(folder: string, commonDir: string): Promise<string[]> {
  const own = await gitText(['config', '--type=path', '--get', 'core.excludesFile'], { cwd: folder });
  const path = own.ok && own.value !== '' ? resolve(folder, own.value) : usersFile();
  const texts = [path, join(commonDir, 'info', 'exclude')].map(async (file) => readFile(file, 'utf8').catch(() => ''));
  const lines = (await Promise.all(texts)).flatMap((text) => text.split(/\r?\n/));
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

function usersFile(): string {
  return join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'ignore');
}
