import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../../src/sandbox/probe.ts';
import { findLedgerFault, readLedger } from '../../processes/ledger.ts';
import { PATIENCE_MS } from '../../processes/run-world.ts';
import { AttackWorld } from './attack-world.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

/** Files of a session that could cause harm outside, to Baton or to a person. */
const SCRIPTS = {
  // Baton reads manifests to find new dependencies, and could reveal their content.
  'links.sh': `
    ln -s "$BATON_STATE_DIR/operator.token" requirements.txt
    ln -s "$HOME/.ssh/id_ed25519" dev-requirements.txt
    mkdir go && ln -s "$HOME/.claude/.credentials.json" go/package.json && ln -s "$BATON_STATE_DIR" state
    for name in CLAUDE.md DEV.md AGENTS.md; do ln -sf "$HOME/.ssh/id_ed25519" $name; done
    git add --all && git commit --quiet --message links`,
  // File names that look like options or commands to a person who types them.
  'names.sh': `
    git commit --quiet --allow-empty --message evil
    for name in origin/main origin/new v1 "$(git rev-parse --short=8 main)" FETCH_HEAD; do git branch "$name"; done
    git tag --force v1 && git update-ref refs/remotes/origin/main HEAD && git branch kept`,
  // The repository has its hooks in the worktree, as is common.
  'hooks.sh': `
    mkdir .husky
    for name in post-checkout post-commit pre-commit reference-transaction post-index-change post-merge pre-push; do
      printf '#!/bin/sh\\ntouch "\${HOOKED:-none}"\\n' >.husky/$name && chmod +x .husky/$name
    done
    export HOOKED=$HOME/inside
    git add --all && git commit --quiet --message hooks
    test -e "$HOME/inside" && touch ran`,
  // Pipes without a writer, folders that cannot be entered or named, and links instead of folders.
  'rubbish.sh': `
    git commit --quiet --allow-empty --message work
    dir=$(git rev-parse --git-dir)
    for name in ORIG_HEAD packed-refs config refs/heads/pipe logs/refs/pipe objects/info/pipe; do
      rm -rf "$dir/$name" && mkfifo "$dir/$name"
    done
    mkdir -p "$dir/refs/heads/locked" && chmod 0 "$dir/refs/heads/locked"
    mv "$dir/objects/pack" "$dir/objects/moved" && ln -s / "$dir/objects/pack"
    rm -rf "$HOME/.claude" ; mkdir -p "$HOME/.claude" && rm -f "$HOME/.claude/.credentials.json" && mkfifo "$HOME/.claude/.credentials.json"
    for folder in "$HOME" /tmp .; do
      cd "$folder" && mkdir -p locked/below && chmod 0 locked
      perl -e 'for (1..40) { mkdir "d" x 200; chdir "d" x 200 }'
      cd - >/dev/null
    done
    exit 0`,
  // Runs until a person ends it, or until its timeout; meanwhile it looks like another session.
  'mark.sh': `
    until test -e other; do sleep 0.05; done
    while :; do env BATON_AGENT_ID="$(cat other)" sleep 1 & env BATON_AGENT_ID="$(cat other)" sleep 1; done`,
} as const;

describe.skipIf(!bubblewrap.works)(`what a session leaves behind${unless}`, { timeout: PATIENCE_MS * 2 }, () => {
  let world: AttackWorld;
  beforeAll(async () => {
    world = await AttackWorld.open({
      mode: 'bubblewrap',
      agents: {
        LINKS: 'run = "sh links.sh"',
        NAMES: 'run = "sh names.sh"',
        HOOKS: 'run = "sh hooks.sh"',
        RUBBISH: 'run = "claude"\nprompt = "go"\nenv = { ATTACK = "sh rubbish.sh" }',
        MARK: 'run = "sh mark.sh"\ntimeout = "60s"',
        OTHER: 'run = "sleep 3"',
      },
      files: SCRIPTS,
    });
    world.run.world.git(world.run.repository, 'config', 'core.hooksPath', '.husky');
    world.run.world.git(world.run.repository, 'tag', 'v1');
    world.lookAgain();
  }, PATIENCE_MS);
  afterAll(async () => world[Symbol.asyncDispose]());

  it('links: no content of a private file reaches the ledger', async () => {
    const id = await world.start('LINKS');
    await world.run.gone(id);
    await world.run.until('it is measured', async () => (await entriesOf('LINKS', 'SessionMeasured')).length > 0);
    const text = JSON.stringify(await readLedger(world.run.world)).toLowerCase();
    const words = Object.values(world.secrets()).flatMap((secret) => secret.toLowerCase().split(/[^a-z0-9]+/));
    expect(words.filter((word) => word.length > 8 && text.includes(word))).toEqual([]);
    expect((await entriesOf('LINKS', 'SessionMeasured'))[0]?.data).toMatchObject({ new_dependencies: [] });
  });

  it('branches: none is taken for a remote-tracking branch, a tag or a commit', async () => {
    const { world: outside, repository } = world.run;
    const meant = ['origin/main', 'v1', 'main~0'].map((name) => outside.git(repository, 'rev-parse', name));
    await world.run.gone(await world.start('NAMES'));
    expect(['origin/main', 'v1', 'main~0'].map((name) => outside.git(repository, 'rev-parse', name))).toEqual(meant);
    const names = outside.git(repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
    expect(names.filter((name) => !/^(?:feature\/|main$|other$)/.test(name))).toEqual(['kept']);
  });

  it('hooks: none runs outside', async () => {
    await world.run.gone(await world.start('HOOKS'));
    const folder = world.worktreeOf('HOOKS');
    expect(existsSync(join(folder, 'ran'))).toBe(true);
    expect(existsSync(join(folder, '.husky/post-commit'))).toBe(true);
    expect(existsSync(join(folder, 'none'))).toBe(false);
    expect(existsSync(join(world.run.repository, 'none'))).toBe(false);
  });

  it('pipes, closed folders and links: the session ends, and the next one works', async () => {
    const id = await world.start('RUBBISH');
    expect(await world.run.gone(id)).toMatchObject({ exit: { code: 0 } });
    await world.run.restart('SIGTERM');
    expect(await findLedgerFault(world.run.world)).toBeUndefined();
    await world.run.ask('task_unblock', { task_id: 'RUBBISH', reason: 'once more' });
    const next = await world.run.until('it has another agent', async () =>
      (await world.agentsOf('RUBBISH')).find((each) => each !== id),
    );
    expect(await world.run.gone(next)).toMatchObject({ exit: { code: 0 } });
  });

  it('the mark of another session: that session still ends', async () => {
    const [mark, other] = [await world.start('MARK'), await world.start('OTHER')];
    await world.run.until('it runs', () => existsSync(join(world.worktreeOf('MARK'), '.baton')));
    writeFileSync(join(world.worktreeOf('MARK'), 'other'), other);
    await world.run.gone(other);
    expect(await world.run.ask('agent_show', { id: mark })).toMatchObject({ process: 'running' });
    await world.run.ask('agent_kill', { id: mark, reason: 'enough' });
    await world.run.gone(mark);
  });

  it('nothing of the user has changed', () => {
    expect(world.changes()).toEqual([]);
    expect(world.damagedObjects()).toEqual([]);
    expect(world.leftProcesses()).toEqual([]);
  });

  async function entriesOf(taskId: string, type: string) {
    const all = await readLedger(world.run.world);
    return all.filter((entry) => entry.type === type && entry.data['task_id'] === taskId);
  }
});
