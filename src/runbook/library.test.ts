import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_AGENTS } from './build/build-agent.ts';
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

  it('resolves its own prompts, and others in the project', () => {
    expect(resolvePromptPath('/project', 'prompts/a.md')).toBe('/project/prompts/a.md');
    expect(resolvePromptPath('/project', 'baton:prompts/fixer.md')).toMatch(/runbooks\/prompts\/fixer\.md$/);
  });
});
