import { describe, expect, it } from 'vitest';
import { listClients } from '../../agents/capabilities/clients.ts';
import { checkRunbook } from '../../runbook/check/check-runbook.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import { findChoice, SCRIPTED } from './agents.ts';
import type { Check } from './detect/project.ts';
import { renderRunbook, type RunbookSettings } from './render-runbook.ts';

const CLIENTS = [...listClients().flatMap(({ run, program }) => (program === null ? [] : [run])), 'scripted'];
const TEST: Check = { name: 'test', run: 'npm test', from: 'package.json', isOnline: false };
const INSTALL: Check = { name: 'install', run: 'npm ci', from: 'package.json', isOnline: true };
const EMPTY: RunbookSettings = { agent: SCRIPTED, branch: 'main', checks: [], install: null, build: null };

function valid(settings: Partial<RunbookSettings>): Runbook {
  const checked = checkRunbook([{ path: 'baton.toml', text: renderRunbook({ ...EMPTY, ...settings }) }]);
  if (!checked.ok) throw new Error(checked.problems.map(({ line, message }) => `${line}: ${message}`).join('\n'));
  return checked.value;
}

describe('the runbook that init writes', () => {
  it.each(CLIENTS)('is valid for %s, which plays the four roles', (run) => {
    const agent = findChoice(run) ?? SCRIPTED;
    const { agents, limits } = valid({ agent, checks: [INSTALL, TEST], install: 'npm ci', build: 'npm run build' });
    expect([...agents.values()].map((each) => [each.name, each.run])).toEqual(
      ['issue-manager', 'implementer', 'reviewer', 'fixer'].map((name) => [name, run]),
    );
    expect(limits.taskBudget?.time_ms).toBeGreaterThan(0);
  });

  it('limits what the client reports', () => {
    const budgets = ['claude', 'codex', 'cline'].map((run) => {
      const { taskBudget = {} } = valid({ agent: findChoice(run) ?? SCRIPTED }).limits;
      return [run, Object.keys(taskBudget).toSorted()];
    });
    expect(Object.fromEntries(budgets)).toEqual({
      claude: ['cost_millicents', 'time_ms'],
      codex: ['time_ms', 'tokens'],
      cline: ['time_ms'],
    });
  });

  it('requires the checks in their order, and has a comment if there are none', () => {
    expect(valid({ checks: [INSTALL, TEST] }).ci.required?.map(({ name, run }) => [name, run])).toEqual([
      ['install', 'npm ci'],
      ['test', 'npm test'],
    ]);
    expect(valid({}).ci.required).toEqual([]);
  });

  it('keeps a command as typed', () => {
    const run = `sh -c 'echo "a\\b $HOME $(ls)"' && test -n "\${X}"`;
    const text = renderRunbook({ ...EMPTY, checks: [{ ...TEST, run }] });
    const checked = checkRunbook([{ path: 'baton.toml', text }]);
    expect(checked.ok).toBe(true);
    // A template is escaped, and unescaped when the check runs.
    expect(checked.ok && checked.value.ci.required?.[0]?.run).toBe(run.replace('${', () => '$${'));
  });

  it('merges into the branch that was found', () => {
    for (const branch of ['trunk', 'odd"${name}']) expect(valid({ branch }).merge?.into).toBe(branch);
  });

  it('keeps a hostile file name inside its comment', () => {
    const { ci } = valid({ checks: [{ ...TEST, from: 'a\n[workers.x]\nrun = "./x".sln' }] });
    expect(ci.required).toHaveLength(1);
  });

  it('explains every value', () => {
    const lines = renderRunbook({ ...EMPTY, checks: [INSTALL], install: 'npm ci', build: 'make' }).split('\n');
    const bare = lines.filter((line, i) => line.includes(' = ') && !line.includes('#') && !isExplained(lines, i));
    expect(bare).toEqual([]);
  });
});

/** Whether the line has a comment above itself or above its table. */
function isExplained(lines: readonly string[], at: number): boolean {
  const above = lines.slice(0, at).findLastIndex((line) => line === '' || line.startsWith('#'));
  return lines[above]?.startsWith('#') === true || /^(?:name|timeout) = /.test(lines[at] ?? '');
}
