import { basename } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { HOOKS_FOLDER } from '../fence/hooks.ts';

/** A setting as `git config --list --show-scope -z` prints it. */
export interface Setting {
  readonly scope: string;
  readonly name: string;
  readonly value: string;
}

export function parseSettings(output: string): Setting[] {
  const parts = output.split('\0');
  const settings: Setting[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const text = parts[i + 1] ?? '';
    const end = text.indexOf('\n');
    // A key without a value is true.
    const [name, value] = end === -1 ? [text, 'true'] : [text.slice(0, end), text.slice(end + 1)];
    settings.push({ scope: parts[i] ?? '', name, value });
  }
  return settings;
}

export interface PrivateConfig {
  readonly format: PrivateGit['format'];
  readonly worktree: string;
  readonly hooksPath: string;
  readonly settings: readonly Setting[];
}

/**
 * Renders the configuration of a private git directory: the settings of the user's repository that affect the content
 * of files and commits, and nothing that may contain a secret. Programs are allowed only as filters and drivers. They
 * run in the sandbox, and without a filter the session would commit other bytes than the user.
 */
export function renderPrivateConfig({ format, worktree, hooksPath, settings }: PrivateConfig): string {
  const own: readonly (readonly [string, string])[] = [
    ['core.repositoryformatversion', format === 'sha1' && !settings.some(isExtension) ? '0' : '1'],
    ['core.bare', 'false'],
    ['core.worktree', worktree],
    ['core.hookspath', hooksPath],
    ['core.logallrefupdates', 'true'],
    ...(format === 'sha1' ? [] : [['extensions.objectformat', format] as const]),
    // The index is a copy, and the user's objects are read-only.
    ['core.splitindex', 'false'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    // The user's keys are outside the sandbox.
    ['commit.gpgsign', 'false'],
    ['tag.gpgsign', 'false'],
  ];
  const theirs = settings
    .filter(isPassedOn)
    .map(({ name, value }) => [withoutLogin(name), withoutLogin(value)] as const);
  return [...theirs, ...own].map(([name, value]) => renderSetting(name, value)).join('');
}

/** Settings about files that Baton's own git needs to compare a worktree with a commit. */
export function renderFileSettings(settings: readonly Setting[]): string {
  return settings
    .filter((each) => isLocal(each) && FILE_SETTINGS.test(each.name))
    .map(({ name, value }) => renderSetting(name, value))
    .join('');
}

/** The user's configured hooks folder, ignoring the fence's; null if none is configured. */
export function findHooksPath(settings: readonly Setting[], beforeFence: string): string | null {
  const paths = settings.filter(({ name, value }) => name === 'core.hookspath' && basename(value) !== HOOKS_FOLDER);
  return beforeFence || (paths.at(-1)?.value ?? null);
}

function isLocal({ scope }: Setting): boolean {
  return scope === 'local' || scope === 'worktree';
}

function isPassedOn(setting: Setting): boolean {
  // The fence sets this for the worktree. In the sandbox the session may tag freely.
  if (!isLocal(setting) || (setting.scope === 'worktree' && setting.name.endsWith('.tagopt'))) return false;
  const [, section = '', key = ''] = /^([a-z0-9-]+)\.(?:.*\.)?([a-z][a-z0-9-]*)$/s.exec(setting.name) ?? [];
  return SECTIONS.has(section) || KEYS[section]?.has(key) === true;
}

function isExtension(setting: Setting): boolean {
  return isPassedOn(setting) && setting.name.startsWith('extensions.');
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

const SECTIONS = words(
  'advice apply author blame branch checkout clean color column committer diff feature fetch filter format grep ' +
    'i18n index log merge notes pull push rebase rerere stash status submodule url user versionsort',
);
const KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  core: words(
    'abbrev attributesfile autocrlf bigfilethreshold checkroundtripencoding checkstat commentchar eol excludesfile ' +
      'filemode ignorecase longpaths precomposeunicode preloadindex protecthfs protectntfs quotepath safecrlf ' +
      'sparsecheckout sparsecheckoutcone symlinks trustctime untrackedcache whitespace',
  ),
  commit: words('cleanup status template verbose'),
  extensions: words('partialclone'),
  lfs: words('url pushurl fetchinclude fetchexclude locksverify'),
  remote: words('fetch partialclonefilter promisor prune prunetags push pushdefault pushurl tagopt url'),
  tag: words('sort'),
};
const FILE_SETTINGS =
  /^(?:core\.(?:filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|sparsecheckout|sparsecheckoutcone)|index\.(?:sparse|version))$/;

/** Removes user names and passwords from web addresses, and passwords from others: `ssh://git@host` needs the name. */
function withoutLogin(text: string): string {
  return text
    .replaceAll(/(\b(?:https?|ftps?):\/\/)[^/\s]*@/gi, '$1')
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*):[^/\s]*@/gi, '$1@');
}

function renderSetting(name: string, value: string): string {
  const [, section = '', middle, key = ''] = /^([^.]+)\.(?:(.*)\.)?([^.]+)$/s.exec(name) ?? [];
  const escaped = (text: string): string => text.replaceAll(/["\\]/g, String.raw`\$&`);
  const header = middle === undefined ? section : `${section} "${escaped(middle)}"`;
  const quoted = escaped(value)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
  return `[${header}]\n\t${key} = "${quoted}"\n`;
}
