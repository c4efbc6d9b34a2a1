import type { ReadPersonal } from '../../../runbook/personal/read-personal.ts';
import { defineCheck, type Diagnosis, ok, problem } from '../finding.ts';

export const personalCheck = defineCheck('personal', 'Your own configuration, which is the floor of every project', {
  absent: ok('There is none'),
  valid: ok('It is valid'),
  invalid: problem('It has errors, so that nothing starts; the first one is named'),
});

export function diagnosePersonal({ path, exists, problems }: ReadPersonal): readonly Diagnosis[] {
  const [first, ...more] = problems;
  if (first !== undefined) {
    const place = first.line === null ? path : `${path}:${first.line}:${first.column ?? 1}`;
    const detail = `${place}: ${first.message}${more.length === 0 ? '' : ` (and ${more.length} more)`}`;
    return [personalCheck.found('invalid', { detail, fix: first.hint })];
  }
  return [exists ? personalCheck.found('valid', { detail: path }) : personalCheck.found('absent', { detail: 'none' })];
}
