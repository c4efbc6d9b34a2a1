import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { examineRunbook } from '../../../runbook/check/check-runbook.ts';
import { issueRolePlayers, resolvePromptPath } from '../../../runbook/library.ts';
import type { Runbook, RunbookFile } from '../../../runbook/runbook.ts';
import type { RunbookValue } from '../../../runbook/shape/runbook-shape.ts';
import { parseScript } from '../../../agents/scripted/script.ts';
import { findEscapes, findUnplayable, scriptedRunbook, standAloneRunbook, withEscapes } from './scripted-runbook.ts';

const TEXT = `
project = "library"
store = "postgres://baton@db/baton"
sandbox = "none"
[notify]
webhook = "https://chat.example/hook"
[workflow]
mode = "supervised"
install = "make deps"
[[ci.required]]
name = "test"
run = "make test"
[agents.coder]
run = "claude"
role = "implementer"
model = "large"
prompt = "Write code."
sandbox = "bubblewrap"
timeout = "20m"
on_dead = "escalate"
[agents.reviewer]
run = "codex"
prompt = "Review."
[pipelines.nightly]
steps = [{ name = "code", run = { agent = "coder" } }]
[commands.nightly]
run = { pipeline = "nightly" }
[workers.implementers]
roles = ["implementer"]
workflow = true
run = { agent = "coder" }
`;

function examine(text: string): { readonly value: RunbookValue; readonly runbook: Runbook } {
  const { checked, subject } = examineRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  return { value: subject.value, runbook: checked.value };
}

function check(file: RunbookFile): Runbook {
  const { checked } = examineRunbook([file]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  return checked.value;
}

it('keeps the rules of a project in a separate file, without its store and notifications', () => {
  const { value, runbook } = examine(TEXT);
  const alone = check(standAloneRunbook(value));
  expect([alone.store, alone.project, alone.notify.webhook, alone.notify.desktop]).toEqual([
    undefined,
    undefined,
    undefined,
    false,
  ]);
  expect(alone.agents).toEqual(runbook.agents);
  expect(alone.ci).toEqual(runbook.ci);
  expect(alone.pipelines).toEqual(runbook.pipelines);
});

it('replaces every model by a script, in the sandbox of the agent that plays the role', () => {
  const { value, runbook } = examine(TEXT);
  const scripted = check(scriptedRunbook(value, runbook, (role) => `- say: ${role}`));
  expect(issueRolePlayers(scripted).filter(({ run }) => !run.startsWith('builtin:'))).toEqual(
    ['issue-manager', 'implementer', 'reviewer', 'fixer'].map((role) => ({ role, agent: role, run: 'scripted' })),
  );
  const implementer = scripted.agents.get('implementer');
  expect(implementer).toMatchObject({ prompt: '- say: implementer', timeout_ms: 1_200_000 });
  expect(implementer?.model).toBeUndefined();
  expect(JSON.stringify(implementer)).toContain('bubblewrap');
  expect([scripted.mode, scripted.pipelines.size, scripted.commands.size]).toEqual(['autonomous', 0, 0]);
  expect(scripted.ci).toEqual(runbook.ci);
  expect(scripted.workflowCommands).toEqual(runbook.workflowCommands);
  expect(JSON.stringify([...scripted.agents.values()])).not.toMatch(/claude|codex/);
});

it('finds a role that scripts cannot play', () => {
  expect(findUnplayable(examine(TEXT).runbook)).toBeUndefined();
  const own = '[agents.validator]\nrun = "claude"\nprompt = "Validate."\nrole = "validator"';
  expect(findUnplayable(examine(own).runbook)).toBe('the role validator is played by claude');
});

it("adds its attempts to the implementer's script, which stays valid", () => {
  const script = readFileSync(resolvePromptPath('', 'baton:scripted/implementer.yaml'), 'utf8');
  const tried = withEscapes(script);
  expect(parseScript(tried)).toMatchObject({ ok: true });
  expect(tried).toContain('probe "could read the signing key"');
  expect(tried.indexOf('probe ')).toBeLessThan(tried.indexOf('git add'));
  const recorded = 'A line.\nescape: could x\n';
  expect(findEscapes(recorded, ['.git', 'src'])).toEqual(['could x']);
  expect(findEscapes(recorded, ['.baton-escape', '.git'])).toEqual(['could x', 'could write to the main checkout']);
});
