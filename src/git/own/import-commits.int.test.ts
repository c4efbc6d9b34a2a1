import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { openOwnRepository, type OwnRepository, runOwnGit } from './own-repository.ts';
import { importCommits, joinPacks, OwnRepositoryImporter } from './transfer-commits.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

let count = 0;
async function open(repo: string): Promise<OwnRepository> {
  count += 1;
  return valueOf(await openOwnRepository(join(scratch.folder, 'state'), `p${count}`, repo));
}

async function show(own: OwnRepository, name: string): Promise<string> {
  return valueOf(await runOwnGit(own, ['cat-file', '-p', name])).stdout;
}

const loosePath = (repo: string, sha: string): string => join(repo, '.git', 'objects', sha.slice(0, 2), sha.slice(2));

/** Replaces one loose object's bytes by another's. */
function overwrite(repo: string, victim: string, by: string): void {
  chmodSync(loosePath(repo, victim), 0o644);
  copyFileSync(loosePath(repo, by), loosePath(repo, victim));
}

describe('importing commits', () => {
  it('copies a complete commit, then only new objects, and keeps it after a prune', async () => {
    const repo = scratch.repository('whole');
    const own = await open(repo);
    const first = scratch.commit(repo, { a: '1\n', 'd/b': '1\n' });
    valueOf(await importCommits(own, [first]));
    const second = scratch.commit(repo, { a: '2\n' });
    valueOf(await importCommits(own, [second]));
    const packs = readdirSync(join(own.objects, 'pack')).filter((name) => name.endsWith('.idx'));
    const counts = await Promise.all(
      packs.map(async (name) => (await runOwnGit(own, ['verify-pack', '-v', join(own.objects, 'pack', name)])).ok),
    );
    expect(counts).toEqual([true, true]);
    // The new objects are a commit, a tree and a blob.
    const sizes = packs.map((name) => {
      const idx = readFileSync(join(own.objects, 'pack', name));
      return idx.readUInt32BE(8 + 255 * 4);
    });
    expect(sizes.toSorted((a, b) => a - b)).toEqual([3, 7]);
    scratch.git(repo, 'reset', '--quiet', '--hard', first);
    scratch.git(repo, 'reflog', 'expire', '--expire=now', '--all');
    scratch.git(repo, 'prune', '--expire=now');
    expect(scratch.try(repo, ['cat-file', '-e', second]).code).not.toBe(0);
    expect(await show(own, `${second}:a`)).toBe('2\n');
    const reopened = new OwnRepositoryImporter({
      stateDir: join(scratch.folder, 'state'),
      projectId: `p${count}`,
      path: repo,
    });
    expect(await show(valueOf(await reopened.with(second)), `${second}:a`)).toBe('2\n');
    expect((await runOwnGit(own, ['fsck', '--strict', '--full'])).ok).toBe(true);
  });

  it.each(['blob', 'tree', 'commit'])('refuses an overwritten loose %s and names it', async (kind) => {
    const repo = scratch.repository(`loose-${kind}`);
    const evil = scratch.commit(repo, { a: 'evil\n', 'd/b': '1\n' });
    const good = scratch.commit(repo, { a: 'good\n', 'd/b': '1\n' });
    const names = { blob: ':a', tree: '^{tree}', commit: '' } as const;
    const name = names[kind as keyof typeof names];
    const [victim, by] = [good, evil].map((sha) => scratch.git(repo, 'rev-parse', `${sha}${name}`));
    overwrite(repo, victim ?? '', by ?? '');
    const own = await open(repo);
    const done = await importCommits(own, [good]);
    expect(codeOf(done)).toBe('git/damaged-object');
    expect(JSON.stringify(done)).toContain(victim);
    expect((await runOwnGit(own, ['cat-file', '-e', victim ?? ''])).ok, 'no other bytes under its name').toBe(false);
  });

  it('refuses an overwritten pack', async () => {
    const repo = scratch.repository('pack');
    const head = scratch.commit(repo, { a: 'x'.repeat(5000) + Math.random(), b: '1\n' });
    scratch.git(repo, 'gc', '--quiet');
    const folder = join(repo, '.git', 'objects', 'pack');
    const pack = join(folder, readdirSync(folder).find((name) => name.endsWith('.pack')) ?? '');
    const bytes = readFileSync(pack);
    bytes[40] = (bytes[40] ?? 0) ^ 0xff;
    chmodSync(pack, 0o644);
    writeFileSync(pack, bytes);
    const own = await open(repo);
    expect((await importCommits(own, [head])).ok).toBe(false);
    expect(existsSync(join(own.gitDir, 'refs/heads/commits', head))).toBe(false);
  });

  it('does not follow replace refs, forged commit-graphs or grafts', async () => {
    const repo = scratch.repository('replace');
    const good = scratch.commit(repo, { a: 'good\n' });
    const evil = scratch.commit(repo, { a: 'evil\n' });
    scratch.git(repo, 'replace', good, evil);
    scratch.git(repo, 'commit-graph', 'write', '--reachable');
    writeFileSync(join(repo, '.git', 'info', 'grafts'), `${good}\n`);
    const own = await open(repo);
    valueOf(await importCommits(own, [good]));
    expect(await show(own, `${good}:a`)).toBe('good\n');
    expect(valueOf(await runOwnGit(own, ['rev-list', '--count', good])).stdout).toBe('2\n');
  });

  it('runs no program that the repository or a worktree names', async () => {
    const repo = scratch.repository('programs');
    const mark = join(scratch.folder, 'ran');
    const program = join(scratch.folder, 'program');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >>'${mark}'\nexec "$@"\n`, { mode: 0o755 });
    for (const name of ['core.fsmonitor', 'uploadpack.packObjectsHook', 'core.sshCommand', 'core.pager'])
      scratch.git(repo, 'config', name, program);
    scratch.git(repo, 'config', 'extensions.worktreeConfig', 'true');
    scratch.git(repo, 'config', '--worktree', 'core.hooksPath', scratch.folder);
    for (const hook of ['post-index-change', 'reference-transaction']) {
      writeFileSync(join(scratch.folder, hook), `#!/bin/sh\necho hook >>'${mark}'\n`, { mode: 0o755 });
    }
    const head = scratch.git(repo, 'rev-parse', 'HEAD');
    const own = await open(repo);
    rmSync(mark, { force: true });
    valueOf(await importCommits(own, [head]));
    expect(existsSync(mark)).toBe(false);
  });

  it('copies objects of alternates in, and works from a linked worktree', async () => {
    const first = scratch.repository('lender');
    const borrower = join(scratch.folder, 'borrower');
    scratch.git(scratch.folder, 'clone', '--quiet', '--shared', first, borrower);
    const worktree = join(scratch.folder, 'linked');
    scratch.git(borrower, 'worktree', 'add', '--quiet', '-b', 'w', worktree);
    const head = scratch.commit(worktree, { a: '1\n' });
    const own = await open(worktree);
    valueOf(await importCommits(own, [head]));
    rmSync(join(first, '.git', 'objects'), { recursive: true });
    expect((await runOwnGit(own, ['fsck', '--full', '--strict'])).ok).toBe(true);
  });

  it('keeps the recorded commit of a submodule', async () => {
    const repo = scratch.repository('gitlink');
    const inner = scratch.git(scratch.repository('inner'), 'rev-parse', 'HEAD');
    scratch.git(repo, 'update-index', '--add', '--cacheinfo', `160000,${inner},sub`);
    scratch.git(repo, 'commit', '--quiet', '--message=sub');
    const head = scratch.git(repo, 'rev-parse', 'HEAD');
    const own = await open(repo);
    valueOf(await importCommits(own, [head]));
    expect(await show(own, `${head}^{tree}`)).toContain(`160000 commit ${inner}\tsub`);
  });

  it('works with SHA-256', async () => {
    const repo = join(scratch.folder, 'sha256');
    scratch.git(scratch.folder, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main', repo);
    const head = scratch.commit(repo, { a: '1\n' });
    const own = await open(repo);
    valueOf(await importCommits(own, [head]));
    expect(head).toHaveLength(64);
    expect(await show(own, `${head}:a`)).toBe('1\n');
  });

  it('refuses shallow and partial clones by name', async () => {
    const source = scratch.repository('source');
    scratch.commit(source, { a: '1\n' });
    scratch.git(source, 'rm', '--quiet', 'a');
    scratch.git(source, 'commit', '--quiet', '--message=gone');
    scratch.git(source, 'config', 'uploadpack.allowFilter', 'true');
    const refused = async (name: string, ...how: string[]): Promise<string> => {
      const path = join(scratch.folder, name);
      scratch.git(scratch.folder, 'clone', '--quiet', ...how, `file://${source}`, path);
      return codeOf(await importCommits(await open(path), [scratch.git(path, 'rev-parse', 'HEAD')]));
    };
    expect(await refused('shallow', '--depth=1')).toBe('git/shallow-repository');
    expect(await refused('partial', '--filter=blob:none')).toBe('git/partial-repository');
    // Also refused before any work starts there. For a whole clone this does not test whether it can be copied.
    const findRefusal = async (name: string): Promise<string | undefined> => {
      const path = join(scratch.folder, name);
      const copy = new OwnRepositoryImporter({
        stateDir: join(scratch.folder, 'state'),
        projectId: `start-${name}`,
        path,
      });
      return (await copy.findRefusal(scratch.git(path, 'rev-parse', 'HEAD'), 20_000))?.code;
    };
    expect(await findRefusal('shallow')).toBe('git/shallow-repository');
    expect(await findRefusal('partial')).toBe('git/partial-repository');
    expect(await findRefusal('source')).toBeUndefined();
  });

  it('refuses missing objects, objects that are no commits, and short ids', async () => {
    const repo = scratch.repository('odd');
    const own = await open(repo);
    expect(codeOf(await importCommits(own, ['a'.repeat(40)]))).toBe('git/damaged-object');
    expect(codeOf(await importCommits(own, [scratch.git(repo, 'rev-parse', 'HEAD^{tree}')]))).toBe('git/no-commit');
    expect(codeOf(await importCommits(own, ['main']))).toBe('git/bad-name');
  });

  it('reports the progress of the first import only', async () => {
    const repo = scratch.repository('progress');
    const lines: string[] = [];
    const place = { stateDir: join(scratch.folder, 'state'), projectId: 'progress', path: repo };
    const copy = new OwnRepositoryImporter(place, (line) => lines.push(`${line === copy.progress}: ${line}`));
    valueOf(await copy.with(scratch.commit(repo, { a: '1' })));
    expect(lines.some((line) => /^true: \w+ objects: +\d+% \(\d+\/\d+\)/.test(line))).toBe(true);
    expect(copy.progress).toBeNull();
    lines.length = 0;
    valueOf(await copy.with(scratch.commit(repo, { a: '2' })));
    expect(lines).toEqual([]);
  });

  it('joins the packs of many imports without losing any', async () => {
    const repo = scratch.repository('many');
    const own = await open(repo);
    const all: string[] = [];
    for (let i = 0; i < 8; i += 1) {
      const tree = scratch.git(repo, 'rev-parse', 'HEAD^{tree}');
      all.push(scratch.git(repo, 'commit-tree', '-m', `c${i}`, '-p', all.at(-1) ?? 'HEAD', tree));
      valueOf(await importCommits(own, all.slice(-1)));
    }
    await joinPacks(own, 8);
    expect(readdirSync(join(own.objects, 'pack')).filter((name) => name.endsWith('.pack'))).toHaveLength(1);
    const again = valueOf(await openOwnRepository(join(scratch.folder, 'state'), `p${count}`, repo));
    rmSync(join(repo, '.git', 'objects'), { recursive: true });
    valueOf(await importCommits({ ...again, recent: [] }, all));
  });
});
