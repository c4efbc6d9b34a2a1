import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { Scratch } from '../../git/scratch.cases.ts';
import type { Protection } from '../../runbook/gates/protected-paths.ts';
import { NO_FLOW } from '../../state/workflow/flow.ts';
import { findProtected, type FoundProtected } from './find-protected.ts';
import type { EffectContext } from '../context.ts';

let scratch: Scratch;
let repo: string;
/** The main branch that the project names. */
let into: string | undefined;
beforeEach(() => {
  into = 'main';
  scratch = new Scratch();
  repo = scratch.repository();
});
afterEach(() => scratch.remove());

/** Returns the protected paths that the commits on a new branch change. */
async function find(work: () => void, protection: Partial<Protection> = {}): Promise<readonly string[]> {
  return (await findAll(work, protection)).paths;
}

async function findAll(work: () => void, protection: Partial<Protection> = {}): Promise<FoundProtected> {
  scratch.git(repo, 'switch', '--quiet', '--create', 'feature/a');
  work();
  const head = scratch.git(repo, 'rev-parse', 'HEAD');
  const own = new OwnRepositoryImporter({ stateDir: join(scratch.folder, 'state'), projectId: 'p', path: repo });
  const settings = { into, protection: { patterns: [], inUse: [], programs: [], ...protection } };
  const state = { main: new Map([['main', { branch: 'main', trusted: null }]]), fleet: new Map(), hosts: new Map() };
  const read = async (ask: (state: unknown) => unknown) => Promise.resolve(ask(state));
  const world = {
    path: repo,
    ownRepository: own,
    settingsFor: () => settings,
    readState: read,
    recordMainMoves: async () => undefined,
  } as unknown as EffectContext; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const found = await findProtected({ flow: NO_FLOW }, head, world);
  if (!found.ok) throw new Error(found.problem.message);
  return found.value;
}

function commitAll(): void {
  scratch.git(repo, 'add', '--all');
  scratch.git(repo, 'commit', '--quiet', '--message', 'x');
}

it('finds nothing in an ordinary change with a test and a dependency', async () => {
  scratch.commit(repo, { 'package.json': '{"scripts":{"test":"x"}}' });
  const ordinary = { 'src/a.js': '1', 'test/a.test.js': '1', 'package.json': '{"dependencies":{"a":"1"},"scripts":{"test":"x"}}' }; // prettier-ignore
  expect(await find(() => scratch.commit(repo, ordinary))).toEqual([]);
});

it('finds other versions in CI configuration for the reviewer alone, and nothing in a new manifest without a program', async () => {
  const steps = (uses: string): string => `jobs: { a: { steps: [{ uses: ${uses} }] } }\n`;
  scratch.commit(repo, { '.github/workflows/a.yml': steps('a/b@v1'), '.github/workflows/b.yml': steps('a/b@v1') });
  const found = await findAll(() => {
    scratch.commit(repo, { '.github/workflows/a.yml': steps('a/b@v2'), '.github/workflows/b.yml': steps('a/c@v1') });
    scratch.commit(repo, { 'crates/a/Cargo.toml': '[package]\nname = "a"\n' });
    symlinkSync('other.json', join(repo, 'crates/a/package.json'));
    commitAll();
  });
  expect(found.versions).toEqual(['.github/workflows/a.yml']);
  expect(found.paths).toEqual(['.github/workflows/b.yml', 'crates/a/package.json']);
});

it('finds the runbook, prompts in use, CI files and package scripts', async () => {
  scratch.commit(repo, { 'package.json': '{"scripts":{"test":"x"}}' });
  const changed = { 'baton.toml': '', '.baton/runbooks/a.toml': '', '.github/workflows/a.yml': '', 'package.json': '{"scripts":{"test":"true"}}', 'prompts/judge.md': '' }; // prettier-ignore
  const found = await find(() => scratch.commit(repo, changed), { inUse: ['prompts/judge.md'] });
  expect([...found].sort()).toEqual(Object.keys(changed).sort());
});

it('ignores what main changed since the branch began', async () => {
  const found = await find(() => {
    scratch.git(repo, 'switch', '--quiet', 'main');
    scratch.commit(repo, { 'baton.toml': '# on main' });
    scratch.git(repo, 'switch', '--quiet', 'feature/a');
    scratch.commit(repo, { 'src/a.js': '1' });
  });
  expect(found).toEqual([]);
});

it('counts a rename for both names', async () => {
  scratch.commit(repo, { Makefile: 'test:\n\tnode --test\n' });
  const found = await find(() => {
    renameSync(join(repo, 'Makefile'), join(repo, 'notes.txt'));
    commitAll();
  });
  expect(found).toEqual(['Makefile']);
});

it('finds a protected name in another case', async () => {
  expect(await find(() => scratch.commit(repo, { 'Baton.TOML': '' }))).toEqual(['Baton.TOML']);
});

it('follows links: of the path itself, and of a folder above it', async () => {
  scratch.commit(repo, { 'ci/config.js': '1', 'hooks/github/workflows/a.yml': '1' });
  symlinkSync('ci/config.js', join(repo, 'vitest.config.js'));
  symlinkSync('hooks/github', join(repo, '.github'));
  commitAll();
  const changed = { 'ci/config.js': '2', 'hooks/github/workflows/a.yml': '2', 'ci/other.js': '2' };
  expect(await find(() => scratch.commit(repo, changed))).toEqual(['ci/config.js', 'hooks/github/workflows/a.yml']);
});

it('finds a link that takes the place of a protected folder', async () => {
  const found = await find(() => {
    symlinkSync('elsewhere', join(repo, '.baton'));
    symlinkSync('elsewhere', join(repo, '.github'));
    commitAll();
  });
  expect(found).toEqual(['.baton', '.github']);
});

it('reads what was committed, whatever replace refs and attributes show', async () => {
  const head = scratch.git(repo, 'rev-parse', 'HEAD');
  const found = await find(() => {
    scratch.commit(repo, { 'baton.toml': '# loosened', '.gitattributes': '* -diff\n' });
    scratch.git(repo, 'replace', scratch.git(repo, 'rev-parse', 'HEAD'), head);
  });
  expect(found).toEqual(['.gitattributes', 'baton.toml']);
});

it("compares with the local main branch, wherever the agent moves the remote's copy", async () => {
  const found = await find(() => {
    scratch.commit(repo, { 'baton.toml': '# weaker', '.github/workflows/a.yml': '' });
    scratch.git(repo, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
  });
  expect([...found].sort()).toEqual(['.github/workflows/a.yml', 'baton.toml']);
});

it('compares with the recorded main branch, whichever branch the agent names', async () => {
  into = undefined;
  const found = await find(() => {
    scratch.commit(repo, { 'baton.toml': '# weaker' });
    scratch.git(repo, 'update-ref', 'refs/remotes/origin/other', 'HEAD');
    scratch.git(repo, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/other');
  });
  expect(found).toEqual(['baton.toml']);
});

/** The checks run `ci/run.sh`, which reads `ci/lib.sh`, and a committed program. */
const PROGRAMS = ['ci/run.sh', 'node_modules/.bin/lint', 'ci'];
const CHECKED = {
  'ci/run.sh': '. ./ci/lib.sh\nnode --test\n',
  'ci/lib.sh': 'true\n',
  'ci/notes.md': 'x',
  'node_modules/lint/cli.js': '1',
  '.vscode/tasks.json': '{}',
};

it.each<[string, () => void, readonly string[]]>([
  ['the script is changed', () => scratch.commit(repo, { 'ci/run.sh': 'true\n' }), ['ci/run.sh']],
  ['what it imports is changed', () => scratch.commit(repo, { 'ci/lib.sh': 'false\n' }), ['ci/lib.sh']],
  ['a new import is added', () => scratch.commit(repo, { 'ci/run.sh': '. ./ci/b.sh\n', 'ci/b.sh': 'x' }), ['ci/b.sh', 'ci/run.sh']],
  ['the script is deleted', () => remove('ci/run.sh'), ['ci/run.sh']],
  ['only its mode is changed', () => setExecutable('ci/run.sh'), ['ci/run.sh']],
  ['a list file only changes its mode', () => setExecutable('.vscode/tasks.json'), ['.vscode/tasks.json']],
  ['a list file is deleted', () => remove('.vscode/tasks.json'), ['.vscode/tasks.json']],
  ['a file is renamed into the list', () => rename('ci/notes.md', '.envrc'), ['.envrc']],
  ['a new nested folder of the list appears', () => scratch.commit(repo, { 'a/b/.claude/hooks/x.sh': 'x' }), ['a/b/.claude/hooks/x.sh']],
  ['another case', () => scratch.commit(repo, { '.Claude/settings.json': '{}' }), ['.Claude/settings.json']],
  ['the target of a committed program is changed', () => scratch.commit(repo, { 'node_modules/lint/cli.js': '2' }), ['node_modules/lint/cli.js']],
  ['a program is committed', () => scratch.commit(repo, { 'sub/node_modules/.bin/tsc': 'x' }), ['sub/node_modules/.bin/tsc']],
  ['a link into the list is added with its target', () => link('.cursor', 'evil', { 'evil/mcp.json': '{}' }), ['.cursor', 'evil/mcp.json']],
  ['other files of the folder are changed', () => scratch.commit(repo, { 'ci/notes.md': 'y', 'ci/new.md': 'x', 'src/a.js': '1' }), []],
])('with programs of checks: %s', async (_, work, expected) => {
  scratch.commit(repo, CHECKED);
  link('node_modules/.bin/lint', '../lint/cli.js', {});
  expect([...(await find(work, { programs: PROGRAMS }))].sort()).toEqual(expected);
}); // prettier-ignore

function remove(path: string): void {
  rmSync(join(repo, path));
  commitAll();
}

function setExecutable(path: string): void {
  scratch.git(repo, 'update-index', '--chmod=+x', path);
  scratch.git(repo, 'commit', '--quiet', '--message', 'x');
}

function rename(from: string, to: string): void {
  renameSync(join(repo, from), join(repo, to));
  commitAll();
}

function link(path: string, target: string, files: Readonly<Record<string, string>>): void {
  scratch.commit(repo, { 'src/other.js': '1', ...files });
  mkdirSync(dirname(join(repo, path)), { recursive: true });
  symlinkSync(target, join(repo, path));
  scratch.git(repo, 'add', '--force', path);
  commitAll();
}
