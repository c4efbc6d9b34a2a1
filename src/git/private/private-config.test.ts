import { describe, expect, it } from 'vitest';
import { findHooksPath, parseSettings, renderFileSettings, renderPrivateConfig } from './private-config.ts';

describe('renderPrivateConfig', () => {
  it.each([
    ['user.name', 'Ada "A" \\ L', '[user]\n\tname = "Ada \\"A\\" \\\\ L"\n'],
    ['core.autocrlf', 'input', '[core]\n\tautocrlf = "input"\n'],
    ['filter.crypt.clean', 'crypt\tclean\n', '[filter "crypt"]\n\tclean = "crypt\\tclean\\n"\n'],
    ['branch.a.b"c.merge', 'refs/heads/x', '[branch "a.b\\"c"]\n\tmerge = "refs/heads/x"\n'],
    ['remote.origin.url', 'https://a:b@c.org/x', '[remote "origin"]\n\turl = "https://c.org/x"\n'],
    ['remote.origin.url', 'https://token@c.org/x', '[remote "origin"]\n\turl = "https://c.org/x"\n'],
    ['remote.origin.url', 'ssh://git:b@c.org/x', '[remote "origin"]\n\turl = "ssh://git@c.org/x"\n'],
    ['remote.origin.url', 'git@c.org:x', '[remote "origin"]\n\turl = "git@c.org:x"\n'],
    ['url.https://token@c.org/.insteadof', 'c:', '[url "https://c.org/"]\n\tinsteadof = "c:"\n'],
  ])('passes %s = %s on', (name, value, expected) => {
    expect(theirs(name, value)).toBe(expected);
  });

  it.each([
    ['core.fsmonitor', 'evil'],
    ['core.sshcommand', 'evil'],
    ['core.editor', 'evil'],
    ['credential.helper', 'store'],
    ['http.https://c.org/.extraheader', 'AUTHORIZATION: basic x'],
    ['github.token', 'x'],
    ['remote.origin.proxy', 'http://a:b@c'],
    ['remote.origin.uploadpack', 'evil'],
    ['extensions.worktreeconfig', 'true'],
    ['extensions.refstorage', 'reftable'],
    ['commit.gpgsign', 'true'],
    ['alias.x', '!evil'],
    ['lfs.storage', '/outside'],
  ])('does not pass %s on', (name, value) => {
    expect(theirs(name, value)).toBe('');
  });

  it("leaves the user's own files and the fence alone", () => {
    expect(theirs('user.name', 'Ada', 'global')).toBe('');
    expect(theirs('remote.origin.tagopt', '--no-tags', 'worktree')).toBe('');
    expect(theirs('remote.origin.tagopt', '--tags', 'local')).toContain('tagopt');
  });

  it('names the format of the objects', () => {
    const text = renderPrivateConfig({ format: 'sha256', worktree: '/w', hooksPath: '/h', settings: [] });
    expect(text).toContain('[core]\n\trepositoryformatversion = "1"\n');
    expect(text).toContain('[extensions]\n\tobjectformat = "sha256"\n');
  });
});

it('renders the settings that Baton itself needs to compare files', () => {
  const settings = parseSettings('local\0core.eol\nlf\0local\0core.fsmonitor\nevil\0global\0core.autocrlf\ntrue\0');
  expect(renderFileSettings(settings)).toBe('[core]\n\teol = "lf"\n');
});

it('parses settings, also without a value', () => {
  expect(parseSettings('local\0core.bare\0worktree\0a.b\nc\nd\0')).toEqual([
    { scope: 'local', name: 'core.bare', value: 'true' },
    { scope: 'worktree', name: 'a.b', value: 'c\nd' },
  ]);
});

describe('findHooksPath', () => {
  const setting = (scope: string, value: string) => ({ scope, name: 'core.hookspath', value });
  const fence = setting('worktree', '/repo/.git/worktrees/w/baton-hooks');
  it.each([
    ['nothing is configured', [], '', null],
    ['only the fence is', [fence], '', null],
    ['the last one counts', [setting('global', '/g'), setting('local', '.husky'), fence], '', '.husky'],
    ['the one before the fence counts', [setting('local', '.husky'), fence], '/own', '/own'],
  ])('%s', (_, settings, before, expected) => {
    expect(findHooksPath(settings, before)).toBe(expected);
  });
});

/** A line of configuration that comes from the repository. */
function theirs(name: string, value: string, scope = 'local'): string {
  const config = { format: 'sha1', worktree: '/w', hooksPath: '/h' } as const;
  const own = renderPrivateConfig({ ...config, settings: [] });
  const text = renderPrivateConfig({ ...config, settings: [{ scope, name, value }] });
  expect(text.endsWith(own)).toBe(true);
  return text.slice(0, -own.length);
}
