import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { codeOf, valueOf } from '../scratch.cases.ts';
import { BRANCH, HAS_BUBBLEWRAP, oddScratch, Session } from './session.cases.ts';
import { hasPrivateChanges, syncPrivateGit } from './sync.ts';

let session: Session;
afterEach(() => session.end());

describe.skipIf(!HAS_BUBBLEWRAP)(
  `in bubblewrap${HAS_BUBBLEWRAP ? '' : ' (NOT RUN: it is missing or does not work here)'}`,
  () => {
    it('git works as usual, and the user gets the branches', async () => {
      session = await Session.begin((scratch, repo) => {
        scratch.git(repo, 'config', 'user.name', 'Grace');
        scratch.git(repo, 'remote', 'add', 'origin', 'https://ada:secret@example.org/x.git');
        scratch.git(repo, 'update-ref', 'refs/remotes/origin/main', 'main');
        scratch.git(repo, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
        scratch.git(repo, 'tag', 'v1');
      });
      const before = session.ref('refs/heads/main');
      const ran = session.inSandbox(`
      test "$(git rev-parse --show-toplevel)" = "$PWD"
      test -z "$(git status --porcelain)"
      git rev-parse origin/HEAD v1 >/dev/null
      git config --list
      echo 1 >a; git add a; git commit -qm one
      echo 2 >a; git commit -qam two --amend
      git switch -qc side HEAD^; echo s >side; git add side; git commit -qm side
      git switch -q ${BRANCH}; git rebase -q side
      echo 3 >b; git add b; git stash -q; git stash list; git stash pop -q; git commit -qm three
      git worktree list >/dev/null
      git gc -q; git fsck --no-dangling
      git log --format=%s; git status --porcelain`);
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      expect(ran.stdout).toContain('user.name=Grace');
      expect(ran.stdout).toContain('remote.origin.url=https://example.org/x.git');
      expect(ran.stdout).toMatch(/three\ntwo\nside\nfirst\n$/);
      expect(hasPrivateChanges(session.git)).toBe(true);
      const synced = valueOf(await syncPrivateGit(session.git));
      expect(synced.refused).toEqual([]);
      expect(synced.moved.map(({ branch }) => branch).toSorted()).toEqual([BRANCH, 'side']);
      expect(hasPrivateChanges(session.git)).toBe(false);
      const { scratch, repo, worktree } = session;
      expect(scratch.git(worktree, 'log', '--format=%s')).toBe('three\ntwo\nside\nfirst');
      expect(scratch.git(worktree, 'status', '--porcelain')).toBe('');
      // The plumbing command does not refresh, so this shows that the index has the files' times.
      expect(scratch.git(worktree, 'diff-files')).toBe('');
      expect(scratch.git(worktree, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${BRANCH}`);
      expect(scratch.git(repo, 'fsck', '--no-dangling')).toBe('');
      expect(session.ref('refs/heads/main')).toBe(before);
    });

    it('an attack changes nothing but the branch of the task', async () => {
      session = await Session.begin((scratch, repo) => {
        scratch.git(repo, 'branch', 'old');
        scratch.git(repo, 'update-ref', 'refs/baton/tasks/T0', 'main');
      });
      const { scratch, repo, worktree, git } = session;
      const before = session.refs();
      const link = readFileSync(join(worktree, '.git'), 'utf8');
      const config = readFileSync(join(repo, '.git/config'), 'utf8');
      // The file is read-only in the sandbox.
      const marker = join(tmpdir(), 'baton-private-marker');
      const ran = session.inSandbox(`
      refuses() { if "$@" 2>/dev/null; then echo "not refused: $*"; fi; }
      g=$(git rev-parse --git-dir); c=\${g%/worktrees/*}
      refuses rm .git; refuses mv .git x; refuses sh -c 'echo gitdir: /tmp >.git'
      refuses mv "$g" "$g.2"
      refuses touch /run/baton/objects/0/x
      refuses sh -c 'echo x >/run/baton/objects/0/info/alternates'
      refuses test -e "$c/config"; refuses test -e "$c/../README.md"
      ls "$c" "$c/worktrees"
      echo 1 >a; git add a; git commit -qm work
      git branch -f main HEAD; git branch -f old HEAD; git tag v9; git replace HEAD^ HEAD
      git update-ref refs/baton/tasks/T0 HEAD; git notes add -m x
      mkdir -p "$g/hooks"
      for hook in reference-transaction post-checkout post-index-change; do
        printf '#!/bin/sh\\ntouch "${marker}"\\n' >"$g/hooks/$hook"; chmod +x "$g/hooks/$hook"
      done
      git config --unset core.hooksPath
      git config core.fsmonitor 'touch "${marker}"'
      git config uploadpack.packObjectsHook 'touch "${marker}"'
      git config core.alternateRefsCommand 'touch "${marker}"'
      git config filter.evil.clean 'touch "${marker}"; cat'; echo '*.md filter=evil' >.gitattributes
      echo "ref: refs/heads/main" >"$g/refs/heads/symbolic"
      mkfifo "$g/refs/heads/pipe"; ln -s /etc/passwd "$g/refs/heads/link"; ln -s / "$g/refs/heads/root"
      echo "$(git rev-parse HEAD)" >"$g/refs/heads/-rf"
      mkdir "$g/objects/zz" "$g/objects/ff" 2>/dev/null || :; mkfifo "$g/objects/ff/$(printf '%038d' 0)"
      ln -s /etc/passwd "$g/objects/ff/$(printf '%038d' 1)"; ln -s /etc "$g/objects/ee"
      rm "$g/objects/info/alternates"; mkfifo "$g/objects/info/alternates"`);
      expect(ran.stderr).toBe('');
      expect(ran).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^.*\.git:\nworktrees\n\n.*\/worktrees:\n\S+\n$/),
      });
      const synced = valueOf(await syncPrivateGit(git));
      const task = session.ref(`refs/heads/${BRANCH}`);
      const [main] = before.split(' ');
      expect(session.refs()).toBe(before.replace(`${main} refs/heads/${BRANCH}`, `${task} refs/heads/${BRANCH}`));
      expect(task).not.toBe(main);
      expect(synced.refused.map(({ branch, reason }) => `${branch} ${reason}`).toSorted()).toEqual([
        '-rf bad-name',
        'main not-yours',
        'old not-yours',
      ]);
      expect(existsSync(marker)).toBe(false);
      expect(readFileSync(join(worktree, '.git'), 'utf8')).toBe(link);
      expect(readFileSync(join(repo, '.git/config'), 'utf8')).toBe(config);
      expect(scratch.git(worktree, 'status', '--porcelain')).toBe('?? .gitattributes');
      expect(existsSync(marker)).toBe(false);
      const copies = readdirSync(join(git.folder, 'import/objects'), { recursive: true, withFileTypes: true });
      expect(copies.filter((each) => !each.isFile() && !each.isDirectory())).toEqual([]);
      // The next session starts with a clean directory, and finds the commits of the private main.
      await session.prepare();
      const next = session.inSandbox(`
      git config --get-regexp 'evil|fsmonitor|hook' || :
      git for-each-ref --format='%(refname)' refs/heads refs/replace refs/tags refs/baton`);
      expect(next.stdout).not.toContain('touch');
      expect(next.stdout).toMatch(
        /core.hookspath \/dev\/null\nrefs\/baton\/kept\/-rf\/\w+\nrefs\/baton\/kept\/main\/\w+\nrefs\/baton\/kept\/old\/\w+\nrefs\/heads\/feature\/t1\nrefs\/heads\/main\nrefs\/heads\/old\n$/,
      );
    });

    it('refuses an object whose content does not match its name, until it is repaired', async () => {
      session = await Session.begin();
      const before = session.refs();
      const forge = `
      echo good >a; git add a; git commit -qm work
      b=$(git rev-parse HEAD:a); other=$(echo evil | git hash-object -w --stdin)
      cd "$(git rev-parse --git-dir)/objects"
      path() { echo "$1" | sed 's,^..,&/,'; }
      cp "$(path $b)" /tmp/good 2>/dev/null || cp "$(path $b)" good; rm -f "$(path $b)"; cp "$(path $other)" "$(path $b)"`;
      expect(session.inSandbox(forge)).toMatchObject({ code: 0 });
      expect(codeOf(await syncPrivateGit(session.git))).toBe('git/damaged-object');
      expect(session.refs()).toBe(before);
      expect(hasPrivateChanges(session.git)).toBe(false);
      expect(
        session.inSandbox(`b=$(git rev-parse HEAD:a); rm -f "$(git rev-parse --git-dir)/objects/$(echo $b | sed 's,^..,&/,')"
        echo good | git hash-object -w --stdin`),
      ).toMatchObject({ code: 0 });
      expect(valueOf(await syncPrivateGit(session.git)).moved).toHaveLength(1);
      expect(session.scratch.git(session.repo, 'show', `${BRANCH}:a`)).toBe('good');
    });

    it('works in a main checkout with hooks, alternates, submodules and other worktrees', async () => {
      const scratch = oddScratch();
      const base = scratch.repository('base');
      scratch.git(scratch.folder, 'clone', '--quiet', '--shared', base, 'clone');
      const module = scratch.repository('module');
      const clone = join(scratch.folder, 'clone');
      scratch.git(clone, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module, 'module');
      scratch.git(clone, 'commit', '--quiet', '-m', 'module');
      // A hook that is a link to a file outside of the hooks folder.
      scratch.write(clone, { '.worktrees/hook': '#!/bin/sh\necho hooked >>"$1"\n' }, 0o755);
      symlinkSync('../../.worktrees/hook', join(clone, '.git/hooks/commit-msg'));
      scratch.write(join(clone, '.git/info'), { exclude: '.worktrees\n' });
      session = await Session.in(scratch, clone, clone);
      const ran = session.inSandbox(`
      ls .worktrees; git -C module log -1 --format=%s; git status --porcelain
      echo 1 >a; git add a; git commit -qm one; git fsck --connectivity-only 2>&1 | grep -v dangling || :`);
      expect(ran).toMatchObject({ code: 0, stdout: 'first\n', stderr: '' });
      expect(valueOf(await syncPrivateGit(session.git)).moved).toMatchObject([{ branch: 'main' }]);
      expect(scratch.git(clone, 'log', '--format=%B', '-1')).toBe('one\nhooked');
      expect(scratch.git(clone, 'status', '--porcelain')).toBe('');
    });
  },
);
