import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Scratch } from '../../git/scratch.cases.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import { examineRunbook } from '../../runbook/check/check-runbook.ts';
import { NO_FILES } from '../../runbook/gates/rule-files.ts';
import { type PinnedRunbook, pinRunbook } from './pinned-runbook.ts';
import { Rulebook } from './rulebook.ts';

const scratch = new Scratch();
const bin = join(scratch.folder, 'bin');
scratch.write(bin, { gh: '#!/bin/sh\n' }, 0o755);
afterAll(() => scratch.remove());

function open(name: string) {
  const path = scratch.repository(name);
  scratch.git(path, 'remote', 'add', 'origin', 'git@github.com:owner/name.git');
  const errors: string[] = [];
  const log = { info: () => {}, error: (message: string) => void errors.push(message) };
  return { path, errors, book: new Rulebook({ path, env: { PATH: bin }, log }) };
}

function pin(text: string, secrets: readonly string[] = []): PinnedRunbook {
  const { subject } = examineRunbook([{ path: 'baton.toml', text }]);
  const pinned = pinRunbook(subject.value, NO_FILES, { sha256: nodeVerifier.sha256, secrets, network: 'dev' });
  if (pinned === undefined) throw new Error('not canonical');
  return pinned;
}

describe('the rules of a project', () => {
  it('include the repository for pull requests, and keep it if git does not answer', async () => {
    const { path, book, errors } = open('busy');
    const { rules } = book;
    await book.detectGithub();
    expect(rules.pulls).toEqual({ repository: 'owner/name', remote: 'origin', draft: false });
    renameSync(join(path, '.git'), join(path, 'away'));
    await book.detectGithub();
    expect([rules.pulls?.repository, errors.length]).toEqual(['owner/name', 1]);
    renameSync(join(path, 'away'), join(path, '.git'));
    scratch.git(path, 'remote', 'remove', 'origin');
    await book.detectGithub();
    expect(rules.pulls).toBeUndefined();
  });

  it('are kept for each adopted runbook, each with its repository for pull requests', async () => {
    const { book } = open('changed');
    const [strict, lax] = [pin('[merge]\nmethod = "rebase"\n'), pin('')];
    book.add(strict);
    await book.detectGithub();
    book.add(lax);
    const of = ({ sha256 }: PinnedRunbook) => book.rules.adopted?.get(sha256);
    expect(of(strict)).toMatchObject({ mergeGate: true, merge: { method: 'rebase' }, pulls: { remote: 'origin' } });
    expect(of(lax)).toMatchObject({ mergeGate: false, pulls: { remote: 'origin' } });
  });
});

describe('before the first adoption', () => {
  it('the gates of the working file hold: removed settings no longer apply, and the repository for pull requests stays', async () => {
    const { book } = open('first');
    await book.detectGithub();
    book.follow(pin('[merge]\nmethod = "rebase"\n').runbook);
    expect(book.rules).toMatchObject({ mergeGate: true, merge: { method: 'rebase' }, pulls: { remote: 'origin' } });
    book.follow(pin('').runbook);
    expect(book.rules.merge).toBeUndefined();
    expect(book.rules).toMatchObject({ mergeGate: false, pulls: { remote: 'origin' } });
  });

  it('nothing starts by the working file, and its checks get no access', () => {
    const { book } = open('unadopted');
    const check = '[[ci.required]]\nname = "test"\nrun = "make"\nnetwork = "full"\nenv_pass = ["KEY"]\n';
    book.follow(pin(`sandbox = "none"\nenv_pass = ["ALL"]\n${check}[roles.reviewer]\nsame_agent = true\n`).runbook);
    expect(book.rules).toMatchObject({ checks: [{ name: 'test', run: 'make' }], sameAgentMayReview: false });
    expect(JSON.stringify(book.rules.checks)).not.toMatch(/KEY|ALL|full/);
    expect(book.runbookFor(null)).toMatchObject({ sandbox: { read: [] }, envPass: [], agents: new Map() });
    expect(book.runbookFor(null).sandbox.mode).toBeUndefined();
  });
});

describe('the content of a runbook', () => {
  it('has a hash that ignores comments and the store, and covers everything that starts', () => {
    const name = pin('[merge]\nmethod = "squash"\n').sha256;
    expect(pin('# merging\nstore = "postgres://db/x"\nmerge = { method = "squash" }\n').sha256).toBe(name);
    const others = ['[merge]\nmethod = "rebase"\n', '[merge]\nmethod = "squash"\n[notify]\ndesktop = false\n'];
    for (const other of others) expect(pin(other).sha256).not.toBe(name);
  });

  it('has its credentials redacted, and a mark that they were', () => {
    const key = `sk-ant-api03-${'a'.repeat(60)}`;
    const pinned = pin(`[agents.a]\nrun = "claude"\nenv = { KEY = "${key}" }\n`);
    expect([pinned.text.includes(key), pinned.holdsCredential]).toEqual([false, true]);
  });
});
