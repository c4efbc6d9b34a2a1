import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPromptFiles } from './check/check-files.ts';
import { planRun } from './plan.ts';
import { readRunbookFiles } from './read/read-runbook.ts';

const root = join(import.meta.dirname, '../..');
const examples = globSync('examples/runbooks/*.{toml,yaml,json}', { cwd: root }).filter(
  (path) => !path.includes('broken'),
);

describe('the example runbooks', () => {
  it('exist', () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  it.each(examples)('%s is valid, and so are its prompt files', (path) => {
    const read = readRunbookFiles(root, [path]);
    expect(read.checked.ok ? [] : read.checked.problems).toEqual([]);
    expect(checkPromptFiles(root, read).problems).toEqual([]);
  });

  it('can be run by name', () => {
    const { checked } = readRunbookFiles(root, ['examples/runbooks/commands.yaml']);
    const vars = (name: string, ...argv: string[]): unknown => {
      const planned = checked.ok ? planRun(checked.value, name, argv) : undefined;
      return planned?.ok === true ? planned.value.vars : planned;
    };
    expect(vars('release', '1.2.3')).toEqual({ version: '1.2.3' });
    expect(vars('ask', 'Why?')).toEqual({ question: 'Why?' });
    expect(vars('hello', 'Ada', '--times', '2')).toEqual({ name: 'Ada', greeting: '', loud: '', times: '2' });
  });

  it('include one that shows findings', () => {
    const { checked } = readRunbookFiles(root, ['examples/runbooks/broken.toml']);
    expect(checked.ok ? [] : checked.problems.map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      '3:1 unknown-field',
      '4:11 invalid-value',
      '10:17 runbook/unknown-agent',
      '14:20 runbook/unknown-variable',
    ]);
  });
});
