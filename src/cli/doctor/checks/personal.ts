import { SANDBOX_KINDS } from '../../../protocol/sandbox.ts';
import { atLeast } from '../../../runbook/access.ts';
import type { ReadPersonal } from '../../../runbook/personal/read-personal.ts';
import type { SandboxSurvey } from '../../../sandbox/survey.ts';
import { defineCheck, type Diagnosis, ok, problem } from '../finding.ts';

export const personalCheck = defineCheck('personal', 'Your own configuration, which is the floor of every project', {
  absent: ok('There is none'),
  valid: ok('It is valid'),
  invalid: problem('It has errors, so that nothing starts; the first one is named'),
  floor: problem('No sandbox that works here is as strong as its floor, so that no session starts'),
});

export function diagnosePersonal(
  { path, exists, problems, value }: ReadPersonal,
  survey: SandboxSurvey,
): readonly Diagnosis[] {
  const [first, ...more] = problems;
  if (first !== undefined) {
    const place = first.line === null ? path : `${path}:${first.line}:${first.column ?? 1}`;
    const detail = `${place}: ${first.message}${more.length === 0 ? '' : ` (and ${more.length} more)`}`;
    return [personalCheck.found('invalid', { detail, fix: first.hint })];
  }
  const { sandbox: floor } = value.floor;
  const answer = floor === 'none' ? undefined : survey[floor];
  const isMet = SANDBOX_KINDS.some((kind) => atLeast(kind, floor) && (kind === 'none' || survey[kind].works));
  if (!isMet && answer?.works === false) {
    const detail = `${path} demands at least the sandbox ${floor}, which does not work here: ${answer.reason}`;
    return [personalCheck.found('floor', { detail, fix: answer.fix })];
  }
  return [exists ? personalCheck.found('valid', { detail: path }) : personalCheck.found('absent', { detail: 'none' })];
}
