import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { isLongLane } from '../../../test/lanes.ts';
import { makeCheckout } from '../checkout/make-checkout.ts';
import { readDiff } from '../commits.ts';
import { measureChange } from '../measures/measure-change.ts';
import { advanceBranch } from '../merge/advance-branch.ts';
import { createMergeCommit } from '../merge/combine.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { runOwnGit } from './own-repository.ts';
import { OwnRepositoryImporter } from './transfer-commits.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

const ran = join(scratch.folder, 'ran');
const program = join(scratch.folder, 'program');
writeFileSync(program, `#!/bin/sh\necho "$0 $*" >>'${ran}'\ncat >/dev/null 2>&1\necho other bytes\n`, { mode: 0o755 });

const PATHS = ['a.txt', 'b.bin', 'd/c.js', 'd/ü x'] as const;
const bytes = fc.oneof(
  fc.string({ maxLength: 40 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
  fc.constantFrom('one\r\ntwo\r\n', '$Id$\n', 'line\nline\n', '').map((text) => Buffer.from(text)),
);
const files = fc.dictionary(fc.constantFrom(...PATHS), bytes, { minKeys: 1, maxKeys: 4 });
// Conversions that git itself performs are applied in checkouts. All others must have no effect.
const attribute = fc.oneof(
  { weight: 3, arbitrary: fc.constant('filter=evil') },
  { weight: 2, arbitrary: fc.constantFrom('diff=evil', '-diff', 'binary') },
  { weight: 2, arbitrary: fc.constantFrom('merge=evil', '-merge', 'merge=union', 'export-ignore') },
  { weight: 1, arbitrary: fc.constantFrom('ident', 'text', 'text=auto', 'eol=crlf', 'text eol=lf') },
);
const isConversion = (value: string): boolean => /^(?:text|eol)/.test(value);
const attributes = fc.array(fc.tuple(fc.constantFrom('*', '*.txt', '*.bin', 'd/*'), attribute), {
  minLength: 1,
  maxLength: 4,
});
const setting = fc.constantFrom(
  'filter.evil.smudge',
  'filter.evil.clean',
  'filter.evil.process',
  'diff.evil.textconv',
  'diff.evil.command',
  'diff.external',
  'merge.evil.driver',
  'core.fsmonitor',
  'core.editor',
  'core.pager',
  'uploadpack.packObjectsHook',
  'core.alternateRefsCommand',
);
/** Settings that change how git converts files, and that name no program. */
const attributesFile = join(scratch.folder, 'attributes');
writeFileSync(attributesFile, '* filter=evil diff=evil -text\n');
const option = fc.constantFrom<readonly [name: string, value: string]>(
  ['core.autocrlf', 'true'],
  ['core.eol', 'crlf'],
  ['core.attributesFile', attributesFile],
  ['core.symlinks', 'false'],
  ['core.precomposeUnicode', 'true'],
  ['diff.noprefix', 'true'],
  ['diff.ignoreSubmodules', 'all'],
  ['diff.wsErrorHighlight', 'none'],
  ['diff.suppressBlankEmpty', 'true'],
);
const repository = fc.record({
  before: files,
  after: files,
  theirs: files,
  attributes,
  place: fc.constantFrom('main', 'branch', 'info'),
  settings: fc.uniqueArray(setting, { minLength: 5, maxLength: 12 }),
  options: fc.uniqueArray(option, { maxLength: 3, selector: ([name]) => name }),
  replaces: fc.boolean(),
  worktreeConfig: fc.boolean(),
});

/** For more runs: `BATON_BYTES_RUNS=200 vitest run src/git/own/same-bytes`. */
const RUNS = Number(process.env['BATON_BYTES_RUNS'] ?? (isLongLane ? 12 : 4));
const LIMIT_MS = RUNS <= 12 ? 20_000 : RUNS * 10_000;

/** Repositories that once failed. */
const EXAMPLES: readonly Drawn[] = [
  {
    before: { 'a.txt': Buffer.from('') },
    after: { 'a.txt': Buffer.from('$Id$\n') },
    theirs: { 'a.txt': Buffer.from('') },
    attributes: [
      ['*', 'ident'],
      ['*', 'binary'],
    ],
    place: 'main',
    settings: ['filter.evil.smudge', 'filter.evil.clean', 'diff.evil.textconv', 'merge.evil.driver', 'core.fsmonitor'],
    options: [],
    replaces: false,
    worktreeConfig: true,
  },
];

let count = 0;

it(
  'the checkout, the diff, the measurement and the merge of a commit read the same bytes, and run nothing',
  { timeout: 3 * LIMIT_MS },
  async () => {
    await fc.assert(fc.asyncProperty(repository, check), {
      examples: EXAMPLES.map((each): [Drawn] => [each]),
      numRuns: EXAMPLES.length + RUNS,
      interruptAfterTimeLimit: LIMIT_MS,
    });
  },
);

async function check(drawn: Drawn): Promise<void> {
  count += 1;
  const repo = scratch.repository(`r${count}`);
  const write = (of: Record<string, Buffer>): void => {
    for (const [path, content] of Object.entries(of)) {
      scratch.write(repo, { [path]: '' });
      writeFileSync(join(repo, path), content);
    }
  };
  const commit = (): string => {
    scratch.git(repo, 'add', '--all');
    scratch.git(repo, 'commit', '--quiet', '--allow-empty', '--message=change');
    return scratch.git(repo, 'rev-parse', 'HEAD');
  };
  const rules = drawn.attributes.map(([pattern, value]) => `${pattern} ${value}\n`).join('');
  write(drawn.before);
  if (drawn.place === 'main') write({ '.gitattributes': Buffer.from(rules) });
  const base = commit();
  scratch.git(repo, 'switch', '--quiet', '--create', 'work');
  write(drawn.after);
  if (drawn.place === 'branch') write({ '.gitattributes': Buffer.from(rules) });
  const head = commit();
  scratch.git(repo, 'switch', '--quiet', 'main');
  write(drawn.theirs);
  const main = commit();
  const truth = new Map(treeOf(repo, head));
  // From here on the repository's own git gives false answers.
  if (drawn.replaces) scratch.git(repo, 'replace', '--force', head, base);
  if (drawn.place === 'info') writeFileSync(join(repo, '.git', 'info', 'attributes'), rules);
  for (const [name, value] of [...drawn.settings.map((each) => [each, program] as const), ...drawn.options]) {
    if (drawn.worktreeConfig)
      scratch.git(repo, '-c', 'core.fsmonitor=false', 'config', 'extensions.worktreeConfig', 'true');
    scratch.git(
      repo,
      '-c',
      'core.fsmonitor=false',
      'config',
      ...(drawn.worktreeConfig ? ['--worktree'] : []),
      name,
      value,
    );
  }

  const stateDir = join(scratch.folder, 'state');
  const copy = new OwnRepositoryImporter({ stateDir, projectId: `r${count}`, path: repo });
  const own = valueOf(await copy.with(head, main, base));
  const read = (sha: string): Promise<Map<string, string>> => blobsOf(own, sha);
  expect(await read(head)).toEqual(truth);

  const folder = join(scratch.folder, `checkout${count}`);
  const request = { sha: head, base, filters: [], main: { name: 'main', sha: main }, stateDir };
  const made = await makeCheckout(own, request, folder);
  // A file of main that needs a missing filter has other bytes than people work with, so it is not checked. Attributes
  // of a branch have no effect.
  const refused = made.ok ? null : codeOf(made);
  expect([null, drawn.place === 'main' ? 'git/filter-not-allowed' : null]).toContain(refused);
  // The checkout applies the conversions of the main branch, not those of the branch or the repository.
  const isConverted = drawn.attributes.some(([, value]) => isConversion(value));
  const hasIds = drawn.place === 'main' && drawn.attributes.some(([, value]) => value === 'ident');
  for (const [path, sha] of made.ok && !(isConverted && drawn.place === 'main') ? truth : [])
    expect(hashOf(folder, path, hasIds ? `$Id: ${sha} $` : undefined), `${path} of the checkout`).toBe(sha);

  const before = await read(base);
  const changed = [...new Set([...before.keys(), ...truth.keys()])].filter(
    (path) => before.get(path) !== truth.get(path),
  );
  const { diff, stat } = await readDiff(own, base, head);
  for (const path of changed) {
    expect(stat).toContain(path);
    expect(blobsShown(diff ?? '', path), `${path} of the diff`).toEqual([before.get(path), truth.get(path)].map(short));
    const isText = [drawn.before[path], drawn.after[path]].every((content) => content?.includes(0) !== true);
    expect([path, isText && isHidden(diff ?? '', path)]).toEqual([path, false]);
  }
  scratch.git(
    repo,
    '-c',
    'core.fsmonitor=false',
    '-c',
    'core.hooksPath=/dev/null',
    'symbolic-ref',
    'HEAD',
    'refs/heads/main',
  );
  const measured = valueOf(await measureChange(repo, { base, branch: 'work', stateDir, own: copy }));
  expect(measured.files.map(({ path }) => path)).toEqual(expect.arrayContaining(changed));

  const combined = valueOf(await createMergeCommit(own, { head, onto: main, method: 'merge', message: 'm' }));
  // If there is a conflict or nothing to merge, main stays unchanged.
  const to = combined.kind === 'combined' ? combined.sha : main;
  const [merged, onMain] = [await read(to), await read(main)];
  const untouched =
    combined.kind === 'combined' ? [...truth].filter(([path]) => onMain.get(path) === before.get(path)) : [];
  for (const [path, sha] of untouched) expect(merged.get(path)).toBe(sha);
  expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('advanced');
  // The main checkout is the user's, so git converts its files by the repository's settings.
  const isPlain =
    drawn.options.length === 0 && !drawn.attributes.some(([, value]) => isConversion(value) || value === 'ident');
  for (const [path, sha] of isPlain ? merged : []) expect(hashOf(repo, path), `${path} of the main checkout`).toBe(sha);
  expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe('');
}

/** The blob ids of a path in a diff, before and after. */
function blobsShown(diff: string, path: string): (string | undefined)[] {
  const [, before, after] = /^index ([0-9a-f]+)\.\.([0-9a-f]+)/m.exec(sectionOf(diff, path)) ?? [];
  return [before?.slice(0, 7), after?.slice(0, 7)];
}

/** Whether a diff shows only that a file changed, not how. */
function isHidden(diff: string, path: string): boolean {
  return /^Binary files /m.test(sectionOf(diff, path));
}

function sectionOf(diff: string, path: string): string {
  return diff.split(/^(?=diff --git )/m).find((section) => section.split('\n', 1)[0]?.includes(path)) ?? '';
}

function short(sha: string | undefined): string {
  return (sha ?? '0'.repeat(40)).slice(0, 7);
}

type Drawn = typeof repository extends fc.Arbitrary<infer T> ? T : never;

function treeOf(repo: string, sha: string): [string, string][] {
  return parse(scratch.git(repo, 'ls-tree', '-r', '-z', sha));
}

async function blobsOf(own: Parameters<typeof runOwnGit>[0], sha: string): Promise<Map<string, string>> {
  return new Map(parse(valueOf(await runOwnGit(own, ['ls-tree', '-r', '-z', sha])).stdout));
}

function parse(listed: string): [string, string][] {
  const lines = listed.split('\0').filter((line) => line !== '');
  return lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.split(/[ \t]/)[2] ?? '']);
}

/** The blob id of a file's bytes. `id`: the expansion of `$Id$` by the attribute `ident`, which is undone first. */
function hashOf(folder: string, path: string, id?: string): string {
  const full = join(folder, path);
  if (lstatSync(full).isSymbolicLink()) return readlinkSync(full);
  const text = readFileSync(full, 'latin1');
  const bytes = Buffer.from(id === undefined ? text : text.replaceAll(id, () => '$Id$'), 'latin1');
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
