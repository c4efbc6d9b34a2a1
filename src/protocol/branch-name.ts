import { type Parsed, problem, quote, refused } from './shape/problem.ts';
import { renderTemplate } from './text/render-template.ts';
import type { TaskField } from './text/template.ts';
import { isGitRef } from './text/text-format.ts';

/** What the branch of a task is called where the runbook does not say (`workspace.branch`). */
export const DEFAULT_BRANCH = 'feature/${task.id}-${task.slug}';

/** What a branch may be named after: what stays as it is as long as the task is there. */
export const BRANCH_FIELDS = ['id', 'n', 'slug', 'epic_id', 'prd_id'] as const satisfies readonly TaskField[];

export interface BranchTask {
  readonly id: string;
  readonly n: number;
  readonly title: string;
  readonly epicId?: string | null;
  readonly prdId?: string | null;
}

/** Git keeps a branch as a file, beside which it needs room for a lock. */
const MAX_NAME = 240;
const MAX_SLUG = 40;

/** The branch of a task: the template filled in, with values in lower case and `-` for all that a branch should not have in its name. */
export function renderBranch(template: string, task: BranchTask): Parsed<string> {
  const values: Record<(typeof BRANCH_FIELDS)[number], string> = {
    id: namePart(task.id),
    n: String(task.n),
    slug: slugOf(task.title),
    epic_id: namePart(task.epicId ?? 'E000'),
    prd_id: namePart(task.prdId ?? 'PRD-000'),
  };
  const filled = renderTemplate(template, { task: values }, { quote: 'none' });
  if (!filled.ok) return filled;
  // A title in letters that a slug cannot have leaves the slug empty, and its dash behind.
  const value = filled.value.replaceAll(/-+(?=\/|$)/g, '').replaceAll(/-{2,}/g, '-');
  // Git would take `refs/heads/x` for a branch, and everybody else for another one.
  const isName = isGitRef(value) && !value.startsWith('refs/');
  if (isName && value.length <= MAX_NAME) return { ok: true, value };
  const why = isName ? `longer than ${MAX_NAME} characters` : 'not a branch name';
  return refused(problem('invalid-value', `${why}: ${quote(value)}`, 'Change `workspace.branch` in baton.toml.'));
}

/** A title as a part of a branch name: plain letters and digits with dashes, cut between words. */
export function slugOf(title: string): string {
  const plain = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.split(/[^a-z0-9]+/).filter((word) => word !== '');
  let slug = '';
  for (const word of words) {
    const longer = slug === '' ? word.slice(0, MAX_SLUG) : `${slug}-${word}`;
    if (longer.length > MAX_SLUG) break;
    slug = longer;
  }
  return slug;
}

function namePart(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, '-').toLowerCase();
}
