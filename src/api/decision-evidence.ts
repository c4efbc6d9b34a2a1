import { choice, count, flag, list, nullable, object, text, whole } from '../protocol/shape/build-shape.ts';
import type { ValueOf } from '../protocol/shape/shape.ts';
import { decisionView } from './run-views.ts';
import { stageView } from './stage-views.ts';

const changedFile = object({
  path: text,
  action: { ...text, about: '`created`, `modified` or `deleted`.' },
  additions: { ...count, about: 'Added lines.' },
  deletions: { ...count, about: 'Deleted lines.' },
});
const change = object({
  base: { ...text, about: 'The commit before the change.' },
  head: { ...text, about: 'The last commit of the change.' },
  files: list(changedFile),
  total: { ...object({ files: count, additions: count, deletions: count }), about: 'The sums over all files.' },
});

/** What a session said about one thing, beside what Baton measured. */
export const claimedFact = object({
  about: { ...text, about: 'The subject, such as `files`, `commits` or `tests`; each at most once.' },
  said: { ...nullable(text), about: 'What the session reported; null if it reported nothing.' },
  measured: { ...nullable(text), about: 'What Baton measured; null if it does not measure this, or has not yet.' },
  differs: { ...flag, about: 'The report and the measurement differ.' },
});

export const decisionEvidence = object({
  goal: { ...nullable(text), about: 'The title of the task and its requirements.' },
  stage: { ...nullable(text), about: 'The phase of the task, the next role, and the rounds.' },
  stages: { ...list(stageView), about: 'The stages of its workflow, with their times; empty without a workflow.' },
  items: {
    ...list(
      object({
        section: { ...text, about: 'The section of the context packet.' },
        heading: { ...text, about: 'The title of the section.' },
        title: { ...text, about: 'The title of the report.' },
        author: text,
        entry: { ...whole, about: 'The number of its entry.' },
        at: text,
        text,
      }),
    ),
    about: 'The reports about the task that matter for the decision, in the words of their authors.',
  },
  output: { ...nullable(text), about: "The end of the agent's output." },
  diff: { ...nullable(change), about: 'The change so far; null if there is none.' },
  since_passed: {
    ...nullable(change),
    about: 'If a check failed: the change since all checks last passed. Null if they never passed.',
  },
  mission: { ...nullable(text), about: "The agent's mission, or its prompt." },
  budget: {
    ...nullable(
      object({
        scope: { ...text, about: 'What the budget limits, as in `agent tidy`.' },
        measure: choice(['tokens', 'cost', 'time']),
        used: count,
        limit: count,
      }),
    ),
    about: 'The budget that the decision is about; cost in thousandths of a cent, time in milliseconds.',
  },
  checks: {
    ...list(
      object({
        name: text,
        outcome: choice(['passed', 'failed', 'cancelled', 'pending']),
        exit_code: nullable(whole),
        output: { ...nullable(text), about: 'The end of its output, if it did not pass.' },
      }),
    ),
    about: 'The newest required checks of the task.',
  },
  findings: {
    ...list(object({ text, rounds: { ...count, about: 'In how many rounds of review in a row it was found.' } })),
    about: 'The last findings of reviews of the task.',
  },
  claims: {
    ...list(claimedFact),
    about: 'What the session that did the work reported, beside what Baton measured.',
  },
  claims_by: { ...nullable(text), about: 'The holder of that session.' },
  waiting: {
    ...list(object({ kind: choice(['agent', 'pipeline', 'task']), id: text, name: text })),
    about: 'The work that waits for the answer.',
  },
  cost: {
    ...nullable(
      object({
        tokens: count,
        cost_millicents: count,
        unpriced_tokens: { ...count, about: 'Tokens without a known price: the cost does not include them.' },
        work_ms: { ...count, about: 'The working time of processes.' },
      }),
    ),
    about: 'The cost of the task until now.',
  },
  commands: { ...list(text), about: 'Commands that show more.' },
});
export type DecisionEvidence = ValueOf<typeof decisionEvidence>;

export const decisionDetails = object({
  ...decisionView.fields,
  evidence: { ...decisionEvidence, about: 'What a person needs to decide.' },
});
export type DecisionDetails = ValueOf<typeof decisionDetails>;
