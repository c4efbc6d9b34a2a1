import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Scratch } from '../git/scratch.cases.ts';
import { examineRunbook } from '../runbook/check-runbook.ts';
import type { Runbook } from '../runbook/runbook.ts';
import { LiveRules } from './live-rules.ts';

const scratch = new Scratch();
const bin = join(scratch.folder, 'bin');
scratch.write(bin, { gh: '#!/bin/sh\n' }, 0o755);
afterAll(() => scratch.remove());

function open(name: string) {
  const path = scratch.repository(name);
  scratch.git(path, 'remote', 'add', 'origin', 'git@github.com:owner/name.git');
  const errors: string[] = [];
  const log = { info: () => {}, error: (message: string) => void errors.push(message) };
  return { path, errors, live: new LiveRules({ path, runbook: { good: undefined }, env: { PATH: bin }, log }) };
}

function runbook(text: string): Runbook {
  const { checked } = examineRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  return checked.value;
}

describe('the rules of a project', () => {
  it('say where its pull requests are, until git says otherwise; that git does not answer says nothing', async () => {
    const { path, live, errors } = open('busy');
    const { rules } = live;
    await live.lookForGithub();
    expect(rules.pulls).toEqual({ repository: 'owner/name', remote: 'origin', draft: false });
    renameSync(join(path, '.git'), join(path, 'away'));
    await live.lookForGithub();
    expect([rules.pulls?.repository, errors.length]).toEqual(['owner/name', 1]);
    renameSync(join(path, 'away'), join(path, '.git'));
    scratch.git(path, 'remote', 'remove', 'origin');
    await live.lookForGithub();
    expect(rules.pulls).toBeUndefined();
  });

  it('lose what the runbook does not say any more, and keep what git says', async () => {
    const { live } = open('changed');
    const { rules } = live;
    await live.lookForGithub();
    live.take(runbook('[merge]\nmethod = "rebase"\n'));
    expect(rules).toMatchObject({ mergeGate: true, merge: { method: 'rebase' }, pulls: { remote: 'origin' } });
    live.take(runbook(''));
    expect(rules.merge).toBeUndefined();
    expect(rules).toMatchObject({ mergeGate: false, pulls: { remote: 'origin' } });
  });
});
