import type { Runbook } from './runbook.ts';

/** How a project answers what is checked before a merge. */
export type ChecksAnswer = 'checked' | 'none' | 'declined' | 'unanswered';

/** `isDeclined`: an operator answered that nothing is checked, which counts while the runbook does not set `ci.required`. */
export function checksAnswerOf({ ci }: Pick<Runbook, 'ci'>, isDeclined: boolean): ChecksAnswer {
  if (ci.required.length > 0) return 'checked';
  if (ci.isSet) return 'none';
  return isDeclined ? 'declined' : 'unanswered';
}

/** The same as a sentence without its full stop; empty if there are checks. */
export function describeChecks(answer: ChecksAnswer): string {
  switch (answer) {
    case 'checked':
      return '';
    case 'none':
      return 'nothing is checked before a merge: ci.required is empty';
    case 'declined':
      return 'nothing is checked before a merge: an operator chose that, and the runbook does not set ci.required';
    case 'unanswered':
      return 'nothing would be checked before a merge: the runbook does not set ci.required';
  }
}
