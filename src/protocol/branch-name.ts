import { type Parsed, problem, quote, refused } from './shape/problem.ts';
import { renderTemplate } from './text/render-template.ts';
import type { TaskField } from './text/template.ts';
import { isGitRef } from './text/text-format.ts';

export const DEFAULT_BRANCH = 'feature/${task.id}-${task.slug}';
/** The fields of a task that a branch name may contain: those that never change. */
export const BRANCH_FIELDS = ['id', 'n', 'slug', 'epic_id', 'prd_id'] as const satisfies readonly TaskField[];

export interface BranchTask {
  readonly id: string;
  readonly n: number;
  readonly title: string;
  readonly epicId?: string | null;
  readonly prdId?: string | null;
}

/** Git stores a branch as a file and needs room for the suffix `.lock`. */
const MAX_NAME = 240;
const MAX_SLUG = 40;

/**
 * Renders a task's branch name. Values are lower-cased, and characters that do not belong in a branch name become `-`.
 */
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
  // The slug is empty if the title has no Latin letters or digits; the dash before the slug is then removed too.
  const value = filled.value.replaceAll(/-+(?=\/|$)/g, '').replaceAll(/-{2,}/g, '-');
  // Git accepts `refs/heads/x` as a branch name, but other tools read it as the branch `x`.
  const isName = isGitRef(value) && !value.startsWith('refs/');
  if (isName && value.length <= MAX_NAME) return { ok: true, value };
  const why = isName ? `longer than ${MAX_NAME} characters` : 'not a branch name';
  return refused(problem('invalid-value', `${why}: ${quote(value)}`, 'Change `workspace.branch` in baton.toml.'));
}

/** A title as part of a branch name: lower-case letters and digits with dashes, cut between words. */
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
