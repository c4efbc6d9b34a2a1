import { once } from 'node:events';
import { appendFileSync, mkdirSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { BRANCH, Session } from '../../git/private/session.cases.ts';
import { GitSync } from './git-sync.ts';

it('a commit arrives even if git is delayed between its log and its branch', async () => {
  const session = await Session.begin();
  const lines: string[] = [];
  const sync = new GitSync(session.git, (line) => lines.push(line));
  const hasArrived = (sha: string): boolean => session.ref(`refs/heads/${BRANCH}`) === sha;
  try {
    sync.begin();
    const first = session.commit({ a: '1' });
    await until('the commit is there', () => hasArrived(first));
    await sync.sync();
    const second = session.run('commit-tree', '-p', first, '-m', 'two', `${first}^{tree}`);
    const [logs, branch] = ['logs', `refs/heads/${BRANCH}`].map((path) => join(session.git.folder, 'git', path));
    const ours = watch(logs ?? '');
    appendFileSync(join(logs ?? '', 'HEAD'), `${first} ${second} t <t@t> 1 +0000\tcommit: two\n`);
    await once(ours, 'change');
    ours.close();
    mkdirSync(dirname(branch ?? ''), { recursive: true });
    writeFileSync(branch ?? '', `${second}\n`);
    await until('the second commit is there', () => hasArrived(second), 20_000);
    expect(lines).toEqual([]);
  } finally {
    await sync.close();
    session.end();
  }
});
