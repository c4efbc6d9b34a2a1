import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Scratch } from '../../git/scratch.cases.ts';
import { LIBRARY_FOLDER } from '../../runbook/library.ts';
import { parseScript } from './script.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

/** The commands of the shipped implementer for a task. */
function commandsFor(task: string): readonly string[] {
  const text = readFileSync(join(LIBRARY_FOLDER, 'scripted/implementer.yaml'), 'utf8');
  const script = parseScript(text.replaceAll('${task.id}', task));
  if (!script.ok) throw new Error(JSON.stringify(script.problems));
  return script.value.steps.flatMap((step) => (step.do === 'run' ? [step.with] : []));
}

it('parallel tasks of the shipped implementer merge without a conflict, as the files that it lists', () => {
  const repository = scratch.repository();
  for (const task of ['W-1', 'W-2']) {
    const worktree = join(scratch.folder, task);
    scratch.git(repository, 'worktree', 'add', '--quiet', '-b', task, worktree, 'main');
    const forms = { 'result.yaml': 'files_modified: []\n', 'record.yaml': '', 'handoff-to-reviewer-agent.xml': '' };
    for (const [name, form] of Object.entries(forms)) scratch.write(join(worktree, '.baton/session'), { [name]: form });
    for (const command of commandsFor(task)) execFileSync('sh', ['-c', command], { cwd: worktree, stdio: 'pipe' });
    const listed = readFileSync(join(worktree, '.baton/session/my-result.yaml'), 'utf8');
    expect(listed).toContain(`path: ${scratch.git(worktree, 'diff', '--name-only', 'main', 'HEAD')},`);
  }
  scratch.git(repository, 'merge', '--quiet', 'W-1');
  expect(scratch.try(repository, ['merge', '--quiet', '--no-edit', 'W-2'])).toEqual({ code: 0, stderr: '' });
});
