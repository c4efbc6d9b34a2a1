import type { OperatorConfig } from '../config.ts';
import { gitFailure, git, type GitResult, type OwnGitFolder } from '../run-git.ts';
import { ATTRIBUTE_FILES } from './attributes.ts';

/**
 * Refuses a commit with files that need a filter which no operator allowed, or allowed but has not configured: without its filter such a
 * file has other bytes than the ones that people work with, and a check of it says nothing.
 */
export async function findForeignFilter(
  indexed: OwnGitFolder,
  filters: readonly string[],
  config: OperatorConfig,
): Promise<GitResult<null>> {
  // Few repositories have filters; only those pay for asking about every path.
  const search = ['grep', '--cached', '-l', '-a', '-F', '-e', 'filter', '--', ATTRIBUTE_FILES];
  const named = await git(search, { cwd: indexed, answers: [1] });
  if (!named.ok) return named;
  if (named.value.code === 1) return { ok: true, value: null };
  const paths = await git(['ls-files', '-z'], { cwd: indexed, maxBytes: MOST_BYTES });
  if (!paths.ok) return paths;
  const asked = ['check-attr', '--cached', '-z', '--stdin', 'filter'];
  const answers = await git(asked, { cwd: indexed, input: paths.value.stdout, maxBytes: MOST_BYTES });
  return answers.ok ? judge(filtersIn(answers.value.stdout), filters, config) : answers;
}

const MOST_BYTES = 1024 * 1024 * 1024;

/** Paths by the filter that they need. Git prints path, attribute and value, each with a NUL behind it. */
function filtersIn(printed: string): ReadonlyMap<string, readonly string[]> {
  const fields = printed.split('\0');
  const found = new Map<string, string[]>();
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const [path = '', , filter = ''] = fields.slice(i, i + 3);
    // Without a name there is no program.
    if (['unspecified', 'unset', 'set', ''].includes(filter)) continue;
    const paths = found.get(filter);
    if (paths === undefined) found.set(filter, [path]);
    else paths.push(path);
  }
  return found;
}

function judge(
  needed: ReadonlyMap<string, readonly string[]>,
  allowed: readonly string[],
  config: OperatorConfig,
): GitResult<null> {
  for (const [filter, [path = '', ...more]] of needed) {
    const which = more.length === 0 ? `'${path}' needs` : `'${path}' and ${more.length} more need`;
    if (!allowed.includes(filter)) {
      const list = [...allowed, filter].map((name) => JSON.stringify(name)).join(', ');
      const hint = `If its program may run on every commit that is checked, write in baton.toml: git = { filters = [${list}] }`;
      return gitFailure('git/filter-not-allowed', `${which} the git filter '${filter}', which is not allowed`, hint);
    }
    if (config.has(`filter.${filter}.process`) || config.has(`filter.${filter}.smudge`)) continue;
    const hint = `Configure it for yourself, for example: git config --global filter.${filter}.smudge COMMAND`;
    const message = `${which} the git filter '${filter}', which is not in your global git configuration`;
    return gitFailure('git/filter-missing', message, hint);
  }
  return { ok: true, value: null };
}
