import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI_CALLS } from '../api/operations/cli-calls.ts';
import { OPERATIONS } from '../api/operations/registry.ts';
import { nameTools } from './tool-hints.ts';

describe('a hint for an MCP client', () => {
  it.each([
    ['See the task: baton task show P0.1.1', 'See the task: task_get {task_id: P0.1.1}'],
    ['See all tasks: baton task list', 'See all tasks: task_list'],
    ['Find another task: baton task next', 'Find another task: task_next_actions'],
    ['Claim the task again: baton task claim A --as NAME', 'Claim the task again: task_claim {task_id: A, as: NAME}'],
    ['Name it, or claim it: baton task claim ID', 'Name it, or claim it: task_claim {task_id: ID}'],
    [
      'Fill in the form (baton thought template A-1), then record it: baton thought record FILE',
      'Fill in the form (form_get {kind: record, task_id: A-1}), then record it: thought_record',
    ],
    [
      "Send what is missing, then the exit signal again. exit: baton emit exit '<json>'; result: baton result submit FILE",
      'Send what is missing, then the exit signal again. exit: exit_signal; result: result_submit',
    ],
    [
      'reinstate it: baton thought record, with "status": "todo"',
      'reinstate it: thought_record, with "status": "todo"',
    ],
    ['the token that `baton task claim` printed.', 'the token that `task_claim` printed.'],
    ['If it is done: baton task complete A RECORD.json', 'If it is done: task_complete {task_id: A}'],
    ['If it is done: baton task update A --status done', 'If it is done: task_update {task_id: A, status: done}'],
    ['The form to fill in: baton handoff template', 'The form to fill in: form_get {kind: handoff}'],
    [
      'Take it again (baton task claim A), or another (baton task next). baton task show A says who has it.',
      'Take it again (task_claim {task_id: A}), or another (task_next_actions). task_get {task_id: A} says who has it.',
    ],
  ])('names the tool: %s', (hint, named) => {
    expect(nameTools(hint)).toBe(named);
  });

  it.each([
    'Only a person can reinstate it: baton task reinstate A --reason "…"',
    'An operator can approve the commit: baton merge A --self-approve REASON',
    'Take the task again: baton task claim A --worktree',
    'Answer it: baton decision show 5d0e7b41',
    'Nothing is lost. Start the daemon with: baton up',
    'Add it; `baton schema` lists every field.',
    'Use the baton command or batonctl/client.',
    'Check the runbook: baton runbook check',
    'baton tasks',
    '',
  ])('keeps a command that has no tool: %s', (hint) => {
    expect(nameTools(hint)).toBe(hint);
  });
});

/** Every command line in the product's messages, up to the end of its text. `${…}` stands for a value. */
function commandLines(): { readonly file: string; readonly line: string }[] {
  const root = join(import.meta.dirname, '..');
  const files = globSync('**/*.ts', { cwd: root }).filter(
    (file) => !/\.(test|cases)\.ts$/.test(file) && !file.startsWith('cli/'),
  );
  return files.flatMap((file) => {
    const code = readFileSync(join(root, file), 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
    const plain = code.replaceAll(/\$\{[^}]*\}/g, 'X1');
    return [...plain.matchAll(/\bbaton [a-z](?:[^'"`\n]|"[^"\n]*"|'<json>')*/g)].map(([line]) => ({ file, line }));
  });
}

describe('the hints in the source', () => {
  const lines = commandLines();

  it('are found', () => {
    expect(lines.length).toBeGreaterThan(80);
    expect(lines.map(({ line }) => line)).toContain('baton task show X1');
  });

  it('name a tool wherever the command has one', () => {
    const untranslated = lines.flatMap(({ file, line }) => {
      const left = nameTools(line);
      const name = Object.keys(CLI_CALLS).find((each) => new RegExp(`\\bbaton ${each}(?![\\w:-])`).test(left));
      return name === undefined || isForPeople(left) ? [] : [`${file}: ${left}`];
    });
    expect(untranslated).toEqual([]);
  });

  /** Reports whether the command line has options that only operators or only terminals use. */
  function isForPeople(line: string): boolean {
    return /--(?:self-approve|worktree|json)\b/.test(line);
  }

  it('name no argument that its tool does not take', () => {
    const called = [
      ...lines
        .map(({ line }) => nameTools(line))
        .join('\n')
        .matchAll(/\b(\w+_\w+) \{([^}]*)\}/g),
    ];
    expect(called.length).toBeGreaterThan(10);
    const unknown = called.flatMap(([, tool = '', fields = '']) =>
      fields
        .split(', ')
        .map((pair) => pair.split(': ')[0] ?? '')
        .filter((field) => !(field in (OPERATIONS.get(tool)?.input.fields ?? {})))
        .map((field) => `${tool}.${field}`),
    );
    expect(unknown).toEqual([]);
  });
});

it('every row of the table is a tool, with fields of its input', () => {
  const wrong = Object.entries(CLI_CALLS).flatMap(([name, { operation, args = [], options = {}, fields = {} }]) => {
    const declared = OPERATIONS.get(operation);
    const named = [...args.filter((each) => each !== null), ...Object.values(options), ...Object.keys(fields)];
    const unknown = named.filter((field) => !(field in (declared?.input.fields ?? {})));
    return declared?.tool === true && unknown.length === 0 ? [] : [`${name}: ${unknown.join(', ')}`];
  });
  expect(wrong).toEqual([]);
});
