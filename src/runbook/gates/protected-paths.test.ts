import { describe, expect, it } from 'vitest';
import { matchesGlob } from '../../protocol/code-files/match-path.ts';
import { findProtectedPaths, isQuietChange, type ChangedFileTexts, type Protection } from './protected-paths.ts';

const NONE: Protection = { patterns: [], inUse: [], programs: [] };

function find(paths: readonly string[], protection: Partial<Protection> = {}): readonly string[] {
  return findProtectedPaths(paths.map((path) => ({ path })), { ...NONE, ...protection }); // prettier-ignore
}

function isFound(file: ChangedFileTexts, protection: Partial<Protection> = {}): boolean {
  return findProtectedPaths([file], { ...NONE, ...protection }).length > 0;
}

describe('protected by default', () => {
  it.each([
    'baton.toml',
    '.baton/runbooks/review.yaml',
    '.baton',
    'BATON.TOML',
    '.Baton/x',
    '.github/workflows/ci.yml',
    '.github/workflows',
    '.GitHub/Workflows/ci.yml',
    '.gitlab-ci.yml',
    'vitest.config.ts',
    'packages/a/vitest.config.mts',
    'pytest.ini',
    'tox.ini',
    'Makefile',
    'sub/Makefile',
    '.husky/pre-commit',
    '.npmrc',
    'packages/a/.npmrc',
    '.yarnrc.yml',
    '.cargo/config.toml',
  ])('%s', (path) => expect(find([path])).toEqual([path]));

  it.each([
    'src/index.ts',
    'test/index.test.ts',
    'tests/conftest.py',
    'package-lock.json',
    'docs/baton.toml.md',
    'sub/baton.toml',
    '.github/ISSUE_TEMPLATE.md',
    'makefile-notes.md',
    '.baton-notes',
  ])('not %s', (path) => expect(find([path])).toEqual([]));
});

describe('package scripts', () => {
  const before = '{"scripts": {"test": "vitest"}, "dependencies": {}}';

  it('are protected, and dependencies are not', () => {
    const added = '{"dependencies": {"left-pad": "1.0.0"}, "scripts": {"test": "vitest"}}';
    expect(isFound({ path: 'package.json', before, after: added })).toBe(false);
    expect(isFound({ path: 'package.json', before, after: before.replace('vitest', 'true') })).toBe(true);
    expect(isFound({ path: 'packages/a/package.json', before, after: '{}' })).toBe(true);
  });

  it.each<[string, string | null]>([
    ['is removed', null],
    ['cannot be read', '{"scripts": '],
  ])('count as changed if the file %s', (_, after) => {
    expect(isFound({ path: 'package.json', before, after })).toBe(true);
  });

  it('count as empty where there is no file, and as changed where it cannot be read', () => {
    const path = 'Cargo.toml';
    const plain = '[package]\nname = "a"\n';
    expect(isFound({ path, before: null, after: plain })).toBe(false);
    expect(isFound({ path, before: plain, after: null })).toBe(false);
    expect(isFound({ path, before: undefined, after: plain })).toBe(true);
    expect(isFound({ path, before: null, after: null })).toBe(true);
    expect(isFound({ path, before: null, after: `${plain}build = "x.rs"\n` })).toBe(true);
    expect(isFound({ path, before: `${plain}build = "x.rs"\n`, after: null })).toBe(true);
  });

  it('in TOML: only the named table', () => {
    const toml = '[project]\nname = "a"\n[tool.pytest.ini_options]\naddopts = "-x"\n';
    const path = 'pyproject.toml';
    expect(isFound({ path, before: toml, after: toml.replace('"a"', '"b"') })).toBe(false);
    expect(isFound({ path, before: toml, after: toml.replace('-x', '-k none') })).toBe(true);
  });
});

describe('versions in CI configuration', () => {
  const path = '.github/workflows/ci.yml';
  const before = 'jobs: { a: { steps: [{ uses: a/b@v1 }] } }\n';
  const after = before.replace('v1', 'v2');

  it('ask nobody', () => {
    expect(isFound({ path, before, after })).toBe(false);
    expect(isQuietChange({ path, before, after })).toBe(true);
  });

  it.each<[string, ChangedFileTexts]>([
    ['the file is new', { path, before: null, after }],
    ['the file is deleted', { path, before, after: null }],
    ['a side is a link', { path, before, after: undefined }],
    ['only the mode changes', { path, before, after: before }],
    ['the folder becomes a file', { path: '.github', before, after }],
  ])('ask if %s', (_, file) => {
    expect(isFound(file)).toBe(true);
    expect(isQuietChange(file)).toBe(false);
  });

  it('ask if a pattern of the runbook names the file, or the file belongs to a check', () => {
    expect(isFound({ path, before, after }, { patterns: ['.github/workflows/**'] })).toBe(true);
    expect(isFound({ path, before, after }, { inUse: [path] })).toBe(true);
  });
});

describe('a new package', () => {
  const manifest = (more: object): string =>
    JSON.stringify({ name: 'a', scripts: { build: 'tsc', test: 'true' }, ...more });
  const added = (after: string, path = 'fixtures/a/package.json'): boolean =>
    isFound({ path, before: null, after, isFolderNew: true });

  it('in a new folder asks nobody: nothing runs its scripts by name yet', () => {
    expect(added(manifest({ dependencies: { b: '1.0.0' } }))).toBe(false);
    expect(isFound({ path: 'fixtures/a/package.json', before: null, after: manifest({}) })).toBe(true);
    expect(isFound({ path: 'a/package.json', before: manifest({ name: 'b' }), after: manifest({}) })).toBe(false);
  });

  it.each<[string, string]>([
    ['a script of an install', manifest({ scripts: { postinstall: 'true' } })],
    ['a script of a commit or release', manifest({ scripts: { prepare: 'true' } })],
    ['hooks of git', manifest({ husky: { hooks: {} } })],
    ['a setting of tests', manifest({ jest: {} })],
    ['packages that run scripts', manifest({ trustedDependencies: ['x'] })],
    ['scripts that are no object', manifest({ scripts: 'x' })],
    ['a text with an error', '{'],
  ])('asks if it has %s', (_, after) => expect(added(after)).toBe(true));
  it('asks if it is of an agent', () => expect(added(manifest({}), '.claude/a/package.json')).toBe(true));
});

describe('the text of an agent', () => {
  const path = 'sub/.claude/agents/a.md';
  const text = (fields: string): string => `---\nname: a\n${fields}---\nDo it.\n`;
  it('asks nobody, and its settings ask', () => {
    expect(isFound({ path, before: null, after: text('') })).toBe(false);
    expect(isFound({ path, before: text(''), after: text('model: opus\n') })).toBe(false);
    expect(isFound({ path, before: text(''), after: text('tools: Bash\n') })).toBe(true);
    expect(isFound({ path, before: text('tools: Bash\n'), after: text('') })).toBe(true);
    expect(isFound({ path })).toBe(true);
  });
});

describe('patterns of a runbook', () => {
  it('add to the built-in ones', () => {
    expect(find(['ci/run.sh', 'Makefile', 'x'], { patterns: ['ci/**'] })).toEqual(['ci/run.sh', 'Makefile']);
  });

  it('remove a path, and the last match decides', () => {
    expect(find(['Makefile', 'sub/Makefile'], { patterns: ['!Makefile', '/Makefile'] })).toEqual(['Makefile']);
  });

  it('do not remove Baton’s own files, nor prompts in use', () => {
    const patterns = ['!**', '!baton.toml', '!.baton/**', '!prompts/**'];
    const paths = ['baton.toml', '.baton/x', 'prompts/judge.md', 'Prompts/Judge.md', 'prompts/other.md'];
    expect(find(paths, { patterns, inUse: ['prompts/judge.md'] })).toEqual(paths.slice(0, 4));
  });

  it('a prompt path is matched literally', () => {
    expect(find(['a*b.md', 'axb.md'], { inUse: ['a*b.md'] })).toEqual(['a*b.md']);
  });
});

it.each<[string, string, boolean]>([
  ['*.yml', 'a/b/c.yml', true],
  ['a/*.yml', 'a/b/c.yml', false],
  ['a/**/c.yml', 'a/c.yml', true],
  ['a/**/c.yml', 'a/b/b/c.yml', true],
  ['/a.yml', 'b/a.yml', false],
  ['a?c', 'abc', true],
  ['a.c', 'abc', false],
])('%s and %s: %s', (pattern, path, expected) => expect(matchesGlob(pattern, path)).toBe(expected));
