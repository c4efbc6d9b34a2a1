import { describe, expect, it } from 'vitest';
import { HANDOFF_DIALECT, parseHandoff } from '../../protocol/handoff/index.ts';
import { redactHandoff } from './handoffs.ts';

const SECRET = `${'aB3'.repeat(14)}x`;
const TOKEN = `s.eyJwIjoicmVwbyIsInMiOiJ4In0.${SECRET}`;

const handoff = (summary: string, fields = ''): string => `<handoff>
  <from>implementer-agent</from>
  <to>reviewer-agent</to>
  <status>success</status>
  <issue_number>1</issue_number>
  <issue_url>https://baton.invalid/tasks/A</issue_url>
  <pr_number>1</pr_number>
  <pr_url>https://baton.invalid/tasks/A/pull</pr_url>
  <branch>feature/a</branch>
  <files_changed>1</files_changed>
  <tests_added>0</tests_added>
  <coverage>80%</coverage>
  <commits><commit sha="abc123">work${fields}</commit></commits>
  <summary>${summary}</summary>
</handoff>`;

function recorded(xml: string, secrets: readonly string[] = []): { readonly xml: string; readonly text: string } {
  const parsed = parseHandoff(xml);
  if (!parsed.ok) throw new Error(parsed.problems[0].message);
  const clean = redactHandoff(xml, parsed.value, HANDOFF_DIALECT, secrets) ?? '';
  const read = parseHandoff(clean);
  return { xml: clean, text: JSON.stringify(read.ok ? read.value : read.problems) };
}

describe('a token in a handoff', () => {
  it.each([
    ['plain', TOKEN],
    ['with its dots as character references', TOKEN.replaceAll('.', '&#46;')],
    ['with its dots as hexadecimal references', TOKEN.replaceAll('.', '&#x2E;')],
    ['with letters as character references', TOKEN.replace('s', '&#115;').replace('eyJ', '&#101;y&#x4a;')],
    ['split by a comment', `${TOKEN.slice(0, 20)}<!-- x -->${TOKEN.slice(20)}`],
    ['split in the letter and the dot', `s<!---->.<!---->${TOKEN.slice(2)}`],
  ])('%s is not in what is recorded, nor in what readers make of it', (_, spelled) => {
    const { xml, text } = recorded(handoff(`Done. Use ${spelled}`));
    expect(text).toContain('Done. Use [redacted:baton-token]');
    expect(`${xml}${text}`).not.toContain(SECRET);
  });

  it('is found in every field', () => {
    expect(recorded(handoff('Done.', ` ${TOKEN.replaceAll('.', '&#46;')}`)).text).not.toContain(SECRET);
  });

  it('is found if only its secret part is there', () => {
    const { text } = recorded(handoff(`key ${SECRET.slice(0, 9)}<!-- -->${SECRET.slice(9)}`), [SECRET]);
    expect(text).not.toContain(SECRET);
  });
});

it('leaves a handoff without a token as it was written', () => {
  const xml = handoff('Done&#46; <!-- a note --> Nothing else.');
  expect(recorded(xml).xml).toBe(xml);
});

it('returns undefined if the handoff is not valid without the token', () => {
  const xml = handoff('Done.').replace('feature/a', `feature/${SECRET}`);
  const parsed = parseHandoff(xml);
  expect(parsed.ok && redactHandoff(xml, parsed.value, HANDOFF_DIALECT, [SECRET])).toBeUndefined();
});
