import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HandoffMessage, renderHandoff } from '../../protocol/handoff/index.ts';
import { emptyTask } from '../say.cases.ts';
import { NO_FLOW } from './flow.ts';
import { PULL_MARKS, renderPullBody, replaceMarkedPart } from './pull.ts';

const handed = (message: HandoffMessage) => {
  const about = { handoff_id: 'h', task_id: 'A', from: '', to: null, phase: null, next_role: null };
  return { ...emptyTask, id: 'A', flow: { ...NO_FLOW, handoff: { ...about, xml: renderHandoff(message) } } };
};

const opened = (summary: string): HandoffMessage => ({
  kind: 'handoff',
  from: 'implementer-agent',
  to: 'reviewer-agent',
  issue_url: 'https://example.org/1',
  issue_number: '1',
  pr_url: 'https://example.org/2',
  pr_number: '2',
  branch: 'feature/a',
  summary,
  files_changed: 3,
  tests_added: 2,
  coverage: '93 %',
  commits: [],
});

describe('the text of a pull request', () => {
  it('names the issue that the task comes from, without a word that would close it', () => {
    const task = { ...handed(opened('It reads.')), githubIssue: { repository: 'owner/name', number: 12 } };
    expect(renderPullBody(task)).toContain('\n\nIssue: https://github.com/owner/name/issues/12\n\nOpened by Baton');
    const elsewhere = { ...task, githubIssue: { repository: 'git.example.org/owner/name', number: 1 } };
    expect(renderPullBody(elsewhere)).toContain('https://git.example.org/owner/name/issues/1\n');
  });

  it("is the implementer's summary, followed by the fixer's changes", () => {
    expect(renderPullBody(handed(opened('It reads durations.')))).toContain(
      'It reads durations.\n\nFiles changed: 3. Tests added: 2. Coverage: 93 %.',
    );
    const mended = handed({
      kind: 'handoff',
      from: 'fixer-agent',
      to: 'reviewer-agent',
      pr_url: 'https://example.org/2',
      pr_number: '2',
      issue_number: '1',
      fixes_applied: [{ location: 'a.ts:1', text: 'no more' }],
      commits_added: 1,
    });
    expect(renderPullBody(mended)).toContain('Fixed in the last round:\n- `a.ts:1`: no more');
    expect(renderPullBody({ ...emptyTask, id: 'A' })).toContain('the task `A`');
  });

  it("mentions nobody, closes nothing, and does not end Baton's part", () => {
    const body = renderPullBody(handed(opened(`Thanks @ada, closes #12 ${PULL_MARKS.end} mail a@b.org`)));
    expect(body).not.toMatch(/@ada|#12/);
    expect(body).toContain('mail a@b.org');
    expect(body.indexOf(PULL_MARKS.end)).toBe(body.length - PULL_MARKS.end.length);
  });

  it("leaves other people's text unchanged, however often it is updated", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        fc.pre(!`${before}${after}`.includes('<!--'));
        const own = (words: string): string => `${PULL_MARKS.begin}\n${words}\n${PULL_MARKS.end}`;
        const body = replaceMarkedPart(`${before}${own('old')}${after}`, own('new'));
        expect(body).toBe(`${before}${own('new')}${after}`);
        const added = replaceMarkedPart(before, own('new'));
        expect(replaceMarkedPart(added, own('new'))).toBe(added);
      }),
    );
  });
});
