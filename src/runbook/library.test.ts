import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_AGENTS, BUILT_IN_WORKERS } from './build/build-agent.ts';
import { checkRunbook } from './check/check-runbook.ts';
import { LIBRARY_FOLDER, resolvePromptPath, withLibrary } from './library.ts';
import { workerPlans } from './plan.ts';
import { readRunbookFiles } from './read/read-runbook.ts';

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
    expect(prompts.filter((file) => !existsSync(resolvePromptPath('/nowhere', file)))).toEqual([]);
    expect(prompts).toHaveLength(4);
  });

  it('is the same in the file for people and in the table for checks', () => {
    const { checked } = readRunbookFiles(LIBRARY_FOLDER, ['issue.toml']);
    const text = readFileSync(join(LIBRARY_FOLDER, 'issue.toml'), 'utf8');
    for (const agent of BUILT_IN_AGENTS) {
      const fields = { run: agent.run, role: agent.role, prompt_file: agent.prompt_file, requires: agent.requires };
      const lines = Object.entries(fields).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name} = ${JSON.stringify(value).replaceAll(',', ', ')}`],
      );
      expect(text).toContain(`[agents.${agent.name}]\n${lines.join('\n')}\n\n`);
    }
    expect(checked.ok && [...checked.value.agents.keys()]).toEqual(BUILT_IN_AGENTS.map(({ name }) => name));
  });

  it("provides every field that a project's agent of the same name does not set", () => {
    const own = (text: string, name: string) => runbookOf(text).agents.get(name);
    expect(own('[agents.reviewer]\nrun = "codex"\n', 'reviewer')).toEqual({
      name: 'reviewer',
      run: 'codex',
      role: 'reviewer',
      prompt_file: 'baton:prompts/reviewer.md',
      requires: ['result', 'handoff', 'exit'],
    });
    expect(own('[agents.fixer]\nmodel = "large"\n', 'fixer')).toMatchObject({
      run: 'claude',
      model: 'large',
      role: 'fixer',
    });
    const mine = own('[agents.reviewer]\nrun = "gemini"\nprompt = "Look."\nrequires = ["exit"]\n', 'reviewer');
    expect(mine).toEqual({ name: 'reviewer', run: 'gemini', role: 'reviewer', prompt: 'Look.', requires: ['exit'] });
    expect(own('[agents.other]\nrun = "true"\n', 'other')).toEqual({ name: 'other', run: 'true' });
  });

  it('claims only tasks of workflows', () => {
    expect(workerPlans(withLibrary(runbookOf(''))).every(({ workflow }) => workflow === true)).toBe(true);
  });

  it("is replaced by the project's definition of the same name", () => {
    const own = runbookOf(
      '[agents.reviewer]\nrun = "codex"\nrole = "reviewer"\n[workers.reviewers]\nroles = ["reviewer"]\nrun = { agent = "reviewer" }\nconcurrency = 9\n',
    );
    const joined = withLibrary(own);
    expect(joined.agents.get('reviewer')?.run).toBe('codex');
    expect(joined.workers.get('reviewers')?.concurrency).toBe(9);
    expect(joined.agents.get('fixer')?.run).toBe('claude');
  });

  it('has workers of which a project may change single fields, such as the concurrency', () => {
    const { workers, agents } = withLibrary(runbookOf('[workers.preparers]\nconcurrency = 9\n'));
    expect(workers.get('preparers')).toEqual({
      name: 'preparers',
      roles: ['prep'],
      workflow: true,
      concurrency: 9,
      run: { kind: 'agent', agent: 'prep' },
    });
    expect(agents.get('prep')).toEqual(BUILT_IN_AGENTS.find(({ name }) => name === 'prep'));
    expect(
      runbookOf('[workers.mine]\nroles = ["validator"]\nrun = { agent = "validator" }').agents.get('validator'),
    ).toEqual(BUILT_IN_AGENTS.find(({ name }) => name === 'validator'));
    const { workers: shipped } = withLibrary(runbookOf(''));
    for (const [name, worker] of BUILT_IN_WORKERS) expect(shipped.get(name)).toEqual(worker);
  });

  it.each([
    ['mine', 'Only the built-in workers may leave it out: issue-managers, preparers,'],
    ['reviewer', 'Did you mean `reviewers`?'],
  ])('leaves no other worker without a run: %s', (name, hint) => {
    const checked = checkRunbook([{ path: 'baton.toml', text: `[workers.${name}]\nconcurrency = 2\n` }]);
    expect(checked).toMatchObject({
      problems: [
        { code: 'missing-field', message: expect.stringContaining(`Missing required field: workers.${name}.run`) },
      ],
    });
    expect(checked.ok ? '' : checked.problems[0].hint).toContain(hint);
  });

  it('resolves its own prompts, and others in the project', () => {
    expect(resolvePromptPath('/project', 'prompts/a.md')).toBe('/project/prompts/a.md');
    expect(resolvePromptPath('/project', 'baton:prompts/fixer.md')).toMatch(/runbooks\/prompts\/fixer\.md$/);
  });
});
