import { describe, expect, it } from 'vitest';
import { EDGES, ROLES } from '../../protocol/handoff/edges.ts';
import { ELEMENT_FORMATS } from '../../protocol/text/text-format.ts';
import { extendWorkflow } from '../../protocol/handoff/extend-workflow.ts';
import { createHandoffDialect, parseHandoff, routeHandoff } from '../../protocol/handoff/index.ts';
import { findPlaceholder, PLACEHOLDERS } from '../../protocol/placeholder.ts';
import { parseResult } from '../../protocol/result.ts';
import { parseThoughtRecord } from '../../protocol/thought-record.ts';
import { emptyTask, SHA } from '../../state/say.cases.ts';
import { buildForms, renderForms } from './forms.ts';

const facts = {
  task: { ...emptyTask, id: 'T007', n: 7, title: 'Say <hello> & "more"' },
  workspace: '/repo/.worktrees/t007',
  branch: 'feature/t007-say-hello',
  head: SHA,
  port: 3107,
  workflow: { roles: ROLES, edges: EDGES },
  at: '2026-01-01T00:00:00Z',
};
const textOf = (role: string | null, file: string): string =>
  buildForms({ ...facts, role }).find((form) => form.file === file)?.text ?? '';

describe('the forms of a session', () => {
  it.each(ROLES.map(({ name }) => name))('are valid unchanged: %s', (role) => {
    const handoffs = buildForms({ ...facts, role }).filter(({ file }) => file.endsWith('.xml'));
    const ways = EDGES.filter(({ from }) => from === '*' || from === ROLES.find(({ name }) => name === role)?.agent);
    expect(handoffs).toHaveLength(ways.length + (role === 'closer' ? 1 : 0));
    for (const { text } of handoffs) {
      const parsed = parseHandoff(text);
      expect({ text, parsed }).toMatchObject({ parsed: { ok: true } });
      expect(parsed.ok && routeHandoff(parsed.value)).toMatchObject({ ok: true });
    }
  });

  it('are valid for a title that XML cannot represent', () => {
    for (const title of ['a \x1b[31mred\0 \ud800 \ufffe', '\uffff'])
      for (const { text } of buildForms({ ...facts, task: { ...facts.task, title }, role: 'issue-manager' }))
        expect(text.includes('<handoff>') ? parseHandoff(text) : { ok: true }).toMatchObject({ ok: true });
  });

  it.each(ROLES.map(({ name }) => name))('are refused until they are filled in: %s', (role) => {
    for (const { file, text } of buildForms({ ...facts, role })) {
      const parse = { 'result.yaml': parseResult, 'record.yaml': parseThoughtRecord }[file] ?? parseHandoff;
      const parsed = parse(text);
      expect({ file, found: parsed.ok && findPlaceholder(parsed.value) }).toEqual({ file, found: expect.any(String) });
      const filled = parse(text.replaceAll('FILL IN', 'So').replaceAll(PLACEHOLDERS.sha, SHA));
      expect({ file, found: filled.ok && findPlaceholder(filled.value) }).toEqual({ file, found: undefined });
    }
  });

  it('have a placeholder for every format that a runbook can require', () => {
    const formats = Object.keys(ELEMENT_FORMATS).map((format) => [`own_${format}`, { kind: 'text', format }] as const);
    for (const [name, element] of formats) {
      const edges = [
        { from: 'tester', to: 'reviewer-agent', phase: 'READY_FOR_REVIEW', elements: { [name]: element } },
      ];
      const extended = extendWorkflow(
        { roles: ROLES, edges: EDGES },
        { roles: [{ name: 'tester', agent: 'tester' }], edges },
      );
      if (!extended.ok) throw new Error(extended.problems[0].message);
      const forms = buildForms({ ...facts, workflow: extended.value, role: 'tester' });
      const form = forms.find(({ file }) => file === 'handoff-to-reviewer-agent.xml');
      const parsed = createHandoffDialect(extended.value).parse(form?.text);
      expect(parsed.ok && findPlaceholder(parsed.value)).toBe(name);
    }
  });

  it('contain known values', () => {
    const text = textOf('prep', 'handoff-to-implementer-agent.xml');
    for (const known of ['feature/t007-say-hello', '/repo/.worktrees/t007', '<port>3107</port>', '>7<'])
      expect(text).toContain(known);
  });

  it('have a placeholder if Baton does not know the place of a manual claim', () => {
    const unknown = { ...facts, role: 'prep', workspace: null, branch: null, head: null };
    const found = buildForms(unknown).map(({ file, text }) => {
      const parsed = ({ 'result.yaml': parseResult, 'record.yaml': parseThoughtRecord }[file] ?? parseHandoff)(text);
      return [file, parsed.ok && findPlaceholder(parsed.value)];
    });
    expect(Object.fromEntries(found)).toMatchObject({
      'handoff-to-implementer-agent.xml': 'branch',
      'record.yaml': 'branch',
    });
  });

  it('name their purpose in a comment, and stay valid', () => {
    for (const form of buildForms({ ...facts, role: 'reviewer' })) {
      const text = renderForms([form]);
      const parse = { record: parseThoughtRecord, result: parseResult, handoff: parseHandoff }[form.kind];
      expect(text.split('\n', 1)[0]).toContain(form.kind === 'handoff' ? `To ${form.to}: ` : form.when);
      expect(parse(text)).toEqual(parse(form.text));
    }
  });

  it('are a result and a record for every session, even without a role', () => {
    expect(buildForms({ ...facts, role: null }).map(({ file }) => file)).toEqual(['result.yaml', 'record.yaml']);
    expect(parseResult(textOf(null, 'result.yaml'))).toMatchObject({ ok: true, value: { task_id: 'T007' } });
    expect(parseThoughtRecord(textOf(null, 'record.yaml'))).toMatchObject({ ok: true, value: { commit_sha: SHA } });
  });
});
