import type { DecisionAction } from './decision.ts';

/** The label of each action in decisions. A decision names the object or the amount only if the action alone would be ambiguous. */
export const OPTION_LABELS: Readonly<Record<DecisionAction, string>> = {
  nudge: 'Tell the agent to continue',
  done: 'Mark as done',
  retry: 'Restart',
  resume: 'Resume',
  skip: 'Skip',
  cancel: 'Cancel',
  approve: 'Approve',
  deny: 'Deny',
  dismiss: 'Dismiss',
};
