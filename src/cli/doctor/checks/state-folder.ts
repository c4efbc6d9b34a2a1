import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';

export interface StateFolderFacts {
  readonly path: string;
  /** Null if nothing exists at the path. */
  readonly folder: FolderFacts | null;
  /** Files with keys and tokens that other users can read. */
  readonly open: readonly { readonly path: string; readonly mode: number }[];
  /** A setting of the environment with which no daemon starts. */
  readonly badSetting: { readonly message: string; readonly hint: string } | null;
  /** How many calls wait for a daemon. */
  readonly kept: number;
  /** Whether this process runs inside a session, where the folder may be hidden. */
  readonly isInSession: boolean;
}

interface FolderFacts {
  readonly isFolder: boolean;
  readonly isOwn: boolean;
  readonly mode: number;
  readonly isWritable: boolean;
}

export const stateCheck = defineCheck('state', 'The state folder: its owner, its permissions, and the settings', {
  private: ok('The state folder is private and can be written'),
  none: ok('There is no state folder yet: the first command that needs a daemon makes it'),
  'in-session': warning('The command runs in a session of an agent, where much is hidden'),
  'not-a-folder': problem('There is a file in place of the state folder'),
  foreign: problem('The state folder belongs to another user, and no daemon starts in it'),
  'read-only': problem('The state folder cannot be written'),
  'open-folder': problem('Other users can enter the state folder', 'makes it private'),
  'open-file': problem('Other users can read a key or a token', 'makes it private'),
  'bad-setting': problem('A variable of the environment has a value with which no daemon starts'),
  waiting: warning('Calls that were made without a daemon wait for one'),
});

export function diagnoseStateFolder(facts: StateFolderFacts): readonly Diagnosis[] {
  const { path, folder, open, badSetting, kept, isInSession } = facts;
  const found: Diagnosis[] = [];
  if (isInSession) {
    const detail =
      'baton doctor runs in a session of an agent: it may not see the state folder, and not reach every host';
    found.push(stateCheck.found('in-session', { detail, fix: 'Run it in a terminal outside of the session.' }));
  }
  if (badSetting !== null) {
    const { message: detail, hint: fix } = badSetting;
    found.push(stateCheck.found('bad-setting', { detail, fix }));
  }
  if (kept > 0) {
    const detail = `${kept === 1 ? '1 call waits' : `${kept} calls wait`} for a daemon`;
    found.push(stateCheck.found('waiting', { detail, fix: 'Deliver: baton up' }));
  }
  if (folder !== null) found.push(...diagnoseFolder(path, folder));
  for (const { path: file, mode } of open) {
    const detail = `${file} has the mode ${octal(mode)}: other users can read it`;
    const repair = { kind: 'make-private', path: file, mode: 0o600 } as const;
    found.push(stateCheck.found('open-file', { detail, fix: `chmod 600 ${file}`, repair }));
  }
  if (found.length > 0) return found;
  return folder === null
    ? [stateCheck.found('none', { detail: `${path} does not exist yet` })]
    : [stateCheck.found('private', { detail: path })];
}

function diagnoseFolder(path: string, { isFolder, isOwn, mode, isWritable }: FolderFacts): readonly Diagnosis[] {
  const other = 'Or set BATON_STATE_DIR to another folder.';
  if (!isFolder)
    return [stateCheck.found('not-a-folder', { detail: `${path} is a file`, fix: `Move it away. ${other}` })];
  if (!isOwn) return [stateCheck.found('foreign', { detail: `${path} belongs to another user`, fix: other })];
  const found: Diagnosis[] = [];
  if (!isWritable) {
    const fix = 'Check its permissions, and whether the disk is mounted read-only.';
    found.push(stateCheck.found('read-only', { detail: `${path} cannot be written`, fix }));
  }
  if ((mode & 0o077) !== 0) {
    const detail = `${path} has the mode ${octal(mode)}: other users can enter it`;
    const repair = { kind: 'make-private', path, mode: 0o700 } as const;
    found.push(stateCheck.found('open-folder', { detail, fix: `chmod 700 ${path}`, repair }));
  }
  return found;
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, '0');
}
