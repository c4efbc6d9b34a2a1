import type { Shape, ValueOf } from '../../protocol/shape/shape.ts';
import type { PullRequestSettings } from '../runbook.ts';

/** Pull requests at GitHub, through `gh`. */
export const githubShape = {
  kind: 'object',
  optional: true,
  about: 'Pull requests at GitHub.',
  fields: {
    pull_requests: {
      kind: 'flag',
      optional: true,
      about: 'Whether tasks have pull requests; left out: where there is a remote at GitHub, and `gh`.',
    },
    repository: {
      kind: 'text',
      optional: true,
      pattern: '^([A-Za-z0-9][A-Za-z0-9.-]*/)?[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$',
      expected: 'owner/name, or host/owner/name',
      about: 'Where they are opened; left out: where the remote is.',
    },
    remote: {
      kind: 'text',
      notEmpty: true,
      optional: true,
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}$',
      expected: 'the name of a git remote',
      about: 'The git remote that branches are pushed to; left out: origin, else the first one at GitHub.',
    },
    draft: { kind: 'flag', optional: true, about: 'Whether they are drafts until they are merged; false.' },
  },
} as const satisfies Shape;

export function buildGithub({
  pull_requests,
  repository,
  remote,
  draft,
}: NonNullable<ValueOf<typeof githubShape>>): PullRequestSettings {
  return { pullRequests: pull_requests, repository, remote, draft: draft ?? false };
}
