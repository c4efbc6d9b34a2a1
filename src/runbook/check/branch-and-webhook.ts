import { BRANCH_FIELDS, type BranchTask, renderBranch } from '../../protocol/branch-name.ts';
import { quote } from '../../protocol/shape/problem.ts';
import { slotsOf } from '../../protocol/text/render-template.ts';
import { parseTemplate, type Slot } from '../../protocol/text/template.ts';
import type { RunbookSubject } from './subject.ts';

const BRANCH_PATH = ['workspace', 'branch'] as const;

/** Requires that the branch template is unique per task and gives a valid git name for every task. */
export function checkBranch(subject: RunbookSubject): void {
  const text = subject.value.workspace?.branch;
  if (text === undefined) return;
  const template = parseTemplate(text);
  const slots = slotsOf(template);
  // `checkTemplates` reports malformed and unknown templates.
  if (template.faults.length > 0 || slots.some(({ name }) => name.of !== 'task')) return;
  const unfit = slots.filter(({ name }) => !isFit(name));
  for (const { source } of unfit) {
    const hint = `The name of a branch never changes, so it can contain only ${BRANCH_FIELDS.join(', ')}.`;
    const [message, at] = [`a branch name cannot contain ${quote(source)}`, subject.placeInText(BRANCH_PATH, source)];
    subject.report('runbook/unknown-name-in-template', BRANCH_PATH, message, hint, at);
  }
  if (unfit.length > 0) return;
  if (!slots.some(({ name }) => name.of === 'task' && (name.name === 'id' || name.name === 'n'))) {
    const hint = 'Each task has a branch of its own: put `${task.id}` into it, or `${task.n}`.';
    const message = `branch template without the id of the task: ${quote(text)}`;
    return subject.report('invalid-value', BRANCH_PATH, message, hint);
  }
  for (const [task, hint] of SAMPLES) {
    const named = renderBranch(text, task);
    if (named.ok) continue;
    const message = `branch template gives an invalid branch name: ${named.problems[0].message}`;
    return subject.report('invalid-value', BRANCH_PATH, message, hint);
  }
}

function isFit(name: Slot['name']): boolean {
  return name.of === 'task' && BRANCH_FIELDS.some((field) => field === name.name);
}

/** Tasks that cover all ways to produce an invalid name. */
const SAMPLES: readonly (readonly [BranchTask, string])[] = [
  [
    { id: 'T001', n: 1, title: 'one two' },
    'See `git check-ref-format`: no spaces, no `..`, no `~^:?*[\\`, nothing that ends in `.lock` or begins with `refs/`.',
  ],
  [
    { id: 'T001', n: 1, title: '' },
    '`${task.slug}` is empty for some titles: give it a default, `${task.slug:-task}`.',
  ],
  [
    { id: 'T'.repeat(64), n: 9_999_999, title: 't'.repeat(99), epicId: 'E000000', prdId: 'PRD-000000' },
    'Make it shorter: an id may have 64 characters, and a slug 40.',
  ],
];

const WEBHOOK_PATH = ['notify', 'webhook'] as const;

/** A variable must start the URL: agents can edit the file, and `http://HOST/${env.KEY}` would send secrets to HOST. */
export function checkWebhook(subject: RunbookSubject): void {
  const text = subject.value.notify?.webhook;
  if (text === undefined) return;
  const { parts, faults } = parseTemplate(text);
  const slots = parts.flatMap((part) => (part.kind === 'slot' ? part : []));
  // `checkTemplates` reports malformed and unknown templates.
  if (faults.length > 0 || slots.some(({ name }) => name.of !== 'env')) return;
  for (const { source } of slots.filter(({ at }) => at !== 0)) {
    const message = `a webhook must not send a variable to another host: ${quote(source)}`;
    const at = subject.placeInText(WEBHOOK_PATH, source);
    subject.report('invalid-template', WEBHOOK_PATH, message, WHOLE_VARIABLE, at);
  }
  const [first, second] = parts;
  if (first?.kind !== 'slot' || second?.kind !== 'text' || /^[/?#]/.test(second.text)) return;
  const message = `text after a variable changes the host: ${quote(text)}`;
  subject.report('invalid-template', WEBHOOK_PATH, message, WHOLE_VARIABLE);
}

const WHOLE_VARIABLE =
  'Put the whole address into one variable: `${env.NAME}`. A path may follow it: `${env.NAME}/slack`.';
