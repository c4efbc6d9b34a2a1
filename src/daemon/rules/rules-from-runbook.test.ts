import { describe, expect, it } from 'vitest';
import { checkRunbook } from '../../runbook/check/check-runbook.ts';
import { rulesFromRunbook } from './rulebook.ts';

it('a check gets the variables that the project and the check allow, and none of an agent', () => {
  const text = `
env_pass = ["DATABASE_URL"]
[agents.coder]
run = "claude"
prompt = "Do it."
env_pass = ["CODER_*"]
[ci]
required = [{ name = "test", run = "npm test" }, { name = "pack", run = "npm pack", env_pass = ["NPM_TOKEN"] }]
`;
  const checked = checkRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0]?.message);
  expect(rulesFromRunbook(checked.value).checks).toEqual([
    { name: 'test', run: 'npm test', env_pass: ['DATABASE_URL'] },
    { name: 'pack', run: 'npm pack', env_pass: ['DATABASE_URL', 'NPM_TOKEN'] },
  ]);
});

describe('workers that make workflows of tasks', () => {
  const rulesOf = (text: string) => {
    const checked = checkRunbook([{ path: 'baton.toml', text }]);
    if (!checked.ok) throw new Error(checked.problems[0]?.message);
    const { unchecked, unreviewable } = rulesFromRunbook(checked.value);
    return [unchecked?.code, unreviewable?.code];
  };
  const worker = '[workers.backlog]\nrun = { workflow = "issue" }\n';
  const coder = ['implementer', 'reviewer']
    .map((role) => `[workers.${role}s]\nroles = ["${role}"]\nworkflow = true\nrun = { agent = "coder" }\n`)
    .join('[agents.coder]\nrun = "true"\n');

  it('may start them if the checks are decided and a reviewer exists', () => {
    expect(rulesOf(`ci.required = []\n${worker}`)).toEqual([undefined, undefined]);
    expect(rulesOf(worker)).toEqual(['no-checks', undefined]);
    expect(rulesOf(`ci.required = []\n${worker}${coder}`)).toEqual([undefined, 'separation-of-duties']);
  });

  it('are not examined if there are none', () => {
    expect(rulesOf(coder)).toEqual([undefined, undefined]);
  });
});
