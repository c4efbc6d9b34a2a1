import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkRunbook } from './check-runbook.ts';
import { promptPath, withLibrary } from './library.ts';
import { workerPlans } from './plan.ts';

const runbookOf = (text: string) => {
  const checked = checkRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  return checked.value;
};

describe('the library', () => {
  it('has an agent and a worker for every role of the workflow, and the prompts that they name', () => {
    const { agents, workflow, ...rest } = withLibrary(runbookOf(''));
    const played = workerPlans({ agents, workflow, ...rest }).flatMap(({ roles = [] }) => roles);
    const roles = workflow.roles.map(({ name }) => name).filter((name) => name !== 'ci-gate');
    expect(played.toSorted()).toEqual(roles.toSorted());
    const prompts = [...agents.values()].flatMap(({ prompt_file: file }) => file ?? []);
    expect(prompts.filter((file) => !existsSync(promptPath('/nowhere', file)))).toEqual([]);
    expect(prompts).toHaveLength(4);
  });

  it('takes only tasks of workflows', () => {
    expect(workerPlans(withLibrary(runbookOf(''))).every(({ workflow }) => workflow === true)).toBe(true);
  });

  it('gives way to what the project defines under the same name', () => {
    const own = runbookOf(
      '[agents.reviewer]\nrun = "codex"\nrole = "reviewer"\n[workers.reviewers]\nroles = ["reviewer"]\nrun = { agent = "reviewer" }\nconcurrency = 9\n',
    );
    const joined = withLibrary(own);
    expect(joined.agents.get('reviewer')?.run).toBe('codex');
    expect(joined.workers.get('reviewers')?.concurrency).toBe(9);
    expect(joined.agents.get('fixer')?.run).toBe('claude');
  });

  it('finds a prompt of its own, and any other in the project', () => {
    expect(promptPath('/project', 'prompts/a.md')).toBe('/project/prompts/a.md');
    expect(promptPath('/project', 'baton:prompts/fixer.md')).toMatch(/runbooks\/prompts\/fixer\.md$/);
  });
});
