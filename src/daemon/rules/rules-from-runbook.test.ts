import { expect, it } from 'vitest';
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
