import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { importCommits } from '../own/transfer-commits.ts';
import { openOwnRepository } from '../own/own-repository.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { makeCheckout } from './make-checkout.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());
const stateDir = join(scratch.folder, 'state');

/** A repository with a library as a submodule at `lib`, on main. */
function withLibrary(name: string): { readonly repo: string; readonly library: string; readonly first: string } {
  const library = scratch.repository(`${name}-library`);
  const first = scratch.commit(library, { 'code.txt': 'one\n' });
  const repo = scratch.repository(name);
  scratch.git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '--name', 'lib', library, 'lib');
  scratch.commit(repo, {});
  scratch.git(repo, 'switch', '--quiet', '-c', 'work');
  return { repo, library, first };
}

/** Adds a submodule to the index directly, bypassing git's own checks. */
function link(repo: string, path: string, sha: string): string {
  scratch.git(repo, 'update-index', '--add', '--cacheinfo', `160000,${sha},${path}`);
  scratch.git(repo, 'commit', '--quiet', '--allow-empty', '--message', 'link');
  return scratch.git(repo, 'rev-parse', 'HEAD');
}

async function checkOut(repo: string, sha: string) {
  const base = scratch.git(repo, 'rev-parse', 'main');
  const name = repo.slice(scratch.folder.length + 1);
  const own = valueOf(await openOwnRepository(stateDir, name, repo));
  valueOf(await importCommits(own, [sha, base]));
  const folder = join(scratch.folder, 'checkouts', name);
  const made = await makeCheckout(own, { sha, base, filters: [], main: { name: 'main', sha: base }, stateDir }, folder);
  return { made, folder };
}

const code = (folder: string, path = 'lib'): string => readFileSync(join(folder, path, 'code.txt'), 'utf8');

describe('submodules of a checkout', () => {
  it("are present at the recorded commit; main's comes from the clone, without the network", async () => {
    const { repo, library, first } = withLibrary('recorded');
    const sha = scratch.commit(repo, { a: '1\n' });
    // The URL no longer exists, but the user's clone has the commit.
    renameSync(library, `${library}-away`);
    const { made, folder } = await checkOut(repo, sha);
    valueOf(made);
    expect(code(folder)).toBe('one\n');
    expect(scratch.git(join(folder, 'lib'), 'rev-parse', 'HEAD')).toBe(first);
    expect(scratch.git(folder, 'status', '--porcelain')).toBe('');
  });

  it('come from the URL at a commit that only the branch records, not from a clone that an agent can write to', async () => {
    const { repo, library } = withLibrary('newer');
    scratch.commit(join(repo, 'lib'), { 'code.txt': 'not published\n' });
    const local = scratch.git(join(repo, 'lib'), 'rev-parse', 'HEAD');
    expect(codeOf((await checkOut(repo, link(repo, 'lib', local))).made)).toBe('git/submodule-fetch');
    const second = scratch.commit(library, { 'code.txt': 'two\n' });
    const { made, folder } = await checkOut(repo, link(repo, 'lib', second));
    valueOf(made);
    expect(code(folder)).toBe('two\n');
  });

  it('may be moved, but no new URL may be named', async () => {
    const { repo, library, first } = withLibrary('moved');
    const entry = (path: string, url: string): string => `[submodule "lib"]\n\tpath = ${path}\n\turl = ${url}\n`;
    scratch.git(repo, 'rm', '--quiet', '--cached', 'lib');
    writeFileSync(join(repo, '.gitmodules'), entry('vendor/lib', library));
    scratch.git(repo, 'add', '.gitmodules');
    const { made, folder } = await checkOut(repo, link(repo, 'vendor/lib', first));
    valueOf(made);
    expect(code(folder, 'vendor/lib')).toBe('one\n');
    const other = scratch.repository('moved-other');
    writeFileSync(join(repo, '.gitmodules'), entry('vendor/lib', other));
    scratch.git(repo, 'add', '.gitmodules');
    const evil = link(repo, 'vendor/lib', scratch.git(other, 'rev-parse', 'HEAD'));
    expect(codeOf((await checkOut(repo, evil)).made)).toBe('git/submodule-unknown');
  });

  it.each([
    ['ext', 'sub', 'ext::sh -c touch% ran'],
    ['path', '../out', 'https://example.invalid/x'],
    ['name', 'sub', '-c=x'],
  ])('with a .gitmodules file made to deceive run and write nothing: %s', async (kind, path, url) => {
    const repo = scratch.repository(`evil-${kind}`);
    scratch.git(repo, 'switch', '--quiet', '-c', 'work');
    const ran = join(scratch.folder, `ran-${kind}`);
    const name = kind === 'name' ? '../../x' : 'sub';
    const text = `[submodule "${name}"]\n\tpath = ${path}\n\turl = "${url.replace('ran', ran)}"\n\tupdate = !touch ${ran}\n`;
    writeFileSync(join(repo, '.gitmodules'), text);
    scratch.git(repo, 'add', '.gitmodules');
    const sha = link(repo, 'sub', scratch.git(repo, 'rev-parse', 'HEAD'));
    // The import, which checks every object, already refuses some of them.
    const done = await checkOut(repo, sha).then(
      ({ made }) => codeOf(made),
      () => 'not imported',
    );
    expect(['git/submodule-unknown', 'not imported']).toContain(done);
    expect(existsSync(ran)).toBe(false);
    expect(existsSync(join(scratch.folder, 'checkouts/out'))).toBe(false);
  });

  it('with a URL on main that runs a program are refused', async () => {
    const repo = scratch.repository('ext-on-main');
    const ran = join(scratch.folder, 'ran-main');
    writeFileSync(join(repo, '.gitmodules'), `[submodule "s"]\n\tpath = s\n\turl = "ext::touch ${ran}"\n`);
    scratch.git(repo, 'add', '.gitmodules');
    const sha = link(repo, 's', 'a'.repeat(40));
    const done = await checkOut(repo, sha).then(
      ({ made }) => codeOf(made),
      () => 'not imported',
    );
    expect(['git/submodule-url', 'not imported']).toContain(done);
    expect(existsSync(ran)).toBe(false);
  });
});
