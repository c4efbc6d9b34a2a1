import type { ClientName, Scope } from '../../../hooks/client.ts';
import { defineCheck, type Diagnosis, ok, problem, type Repair, warning } from '../finding.ts';

export interface HookFacts {
  /** The path of this Baton. */
  readonly baton: string;
  readonly files: readonly HookFileFacts[];
  /** Hooks installed for a repository that no longer exists. */
  readonly deleted: readonly { readonly client: ClientName; readonly root: string }[];
  /** Whether an install was interrupted. */
  readonly isUnfinished: boolean;
}

export interface HookFileFacts {
  readonly client: ClientName;
  readonly scope: Scope;
  readonly path: string;
  /** The hooks and servers of Baton in the file. */
  readonly parts: readonly string[];
  readonly problems: readonly string[];
  /** Other Baton programs that the hooks start. */
  readonly others: readonly string[];
  readonly missing: readonly string[];
  /** Whether this state folder has a record of the hooks, with their options. */
  readonly isOnRecord: boolean;
}

export const hooksCheck = defineCheck('hooks', "Baton's hooks in your own sessions of a client, and what they start", {
  none: ok('No hooks are installed: your own sessions run without Baton'),
  installed: ok('Hooks are installed, and start this Baton'),
  'missing-program': problem(
    'Hooks start a Baton or a Node that does not exist: each session of the client gets errors',
    'installs them again, with the same options',
  ),
  'other-program': warning('Hooks start another Baton than this one'),
  off: problem('Hooks are installed, and do not run: the settings switch hooks off, or cannot be read'),
  removed: warning('Hooks are on record, and the settings file no longer has them'),
  'deleted-repository': warning('Hooks of a repository that no longer exists', 'removes them'),
  unfinished: problem('An installation was interrupted', 'restores the files'),
});

export function diagnoseHooks({ baton, files, deleted, isUnfinished }: HookFacts): readonly Diagnosis[] {
  const found: Diagnosis[] = [];
  if (isUnfinished) {
    const detail = 'an installation of hooks was interrupted';
    const fix = 'The next `baton hooks install` or `uninstall` restores the files.';
    found.push(hooksCheck.found('unfinished', { detail, fix, repair: { kind: 'restore-hooks' } }));
  }
  for (const { client, root } of deleted) {
    const repair: Repair = { kind: 'remove-hooks-of-deleted', client };
    const detail = `hooks of ${client} are installed for ${root}, which no longer exists`;
    found.push(hooksCheck.found('deleted-repository', { detail, fix: `baton hooks uninstall ${client}`, repair }));
  }
  found.push(...files.flatMap((file) => diagnoseFile(file, baton)));
  return found.length > 0 ? found : [hooksCheck.found('none', { detail: 'not installed for any client' })];
}

function diagnoseFile(file: HookFileFacts, baton: string): readonly Diagnosis[] {
  const { client, scope, path, parts, problems, others, missing, isOnRecord } = file;
  const where = `${client}: ${path}`;
  const install = installCommand(client, scope);
  const isInstalled = parts.length > 0;
  const found: Diagnosis[] = [];
  if (problems.length > 0 && (isInstalled || isOnRecord))
    found.push(hooksCheck.found('off', { detail: `${where}: ${problems.join('; ')}`, fix: `Correct ${path}.` }));
  else if (!isInstalled && isOnRecord) {
    const fix = `${install}, or without them: ${install.replace('install', 'uninstall')}`;
    found.push(hooksCheck.found('removed', { detail: `${where} has no hooks any more`, fix }));
  }
  if (missing.length > 0) {
    const repair: Repair | undefined = isOnRecord ? { kind: 'install-hooks', client, scope } : undefined;
    const detail = `${where} starts ${missing.join(' and ')}, which does not exist`;
    found.push(hooksCheck.found('missing-program', { detail, fix: install, repair }));
  } else if (others.length > 0) {
    const detail = `${where} starts another Baton, ${others.join(' and ')}; this one is ${baton}`;
    found.push(hooksCheck.found('other-program', { detail, fix: `To start this one: ${install}` }));
  }
  if (found.length > 0 || !isInstalled) return found;
  return [hooksCheck.found('installed', { detail: `${where}: ${parts.join(', ')}` })];
}

function installCommand(client: ClientName, { kind }: Scope): string {
  return `baton hooks install ${client}${kind === 'project' ? ' --repository' : ''}`;
}
