import { expect, it } from 'vitest';
import { judgeReport } from './judge-report.ts';

const OWN = { repository: 'owner/name', app: undefined };
const report = (repository = 'owner/name', app = 'github-actions', conclusion = 'success') => ({
  reporter: { repository, app },
  conclusion,
});

it.each<[string, Parameters<typeof judgeReport>, ReturnType<typeof judgeReport>]>([
  ["the project's repository", [{}, report(), OWN], 'counts'],
  ['a failure', [{}, report('owner/name', 'github-actions', 'failure'), OWN], 'counts'],
  ['the same name in another case', [{}, report('Owner/Name'), OWN], 'counts'],
  ['another repository', [{}, report('other/name'), OWN], 'ignored'],
  ['a repository of the same name on another host', [{}, report('evil.example/owner/name'), OWN], 'ignored'],
  ['a repository with a longer name', [{}, report('owner/name2'), OWN], 'ignored'],
  ['the repository that the check names', [{ repository: 'ci/runs' }, report('ci/runs'), OWN], 'counts'],
  ["the project's, where the check names another", [{ repository: 'ci/runs' }, report(), OWN], 'ignored'],
  ['no known repository', [{}, report(), { repository: undefined, app: undefined }], 'repository'],
  ['an accepted app of it', [{}, report(), { repository: undefined, app: 'github-actions' }], 'counts'],
  ['another app than before', [{}, report('owner/name', 'evil'), { ...OWN, app: 'github-actions' }], 'app'],
  ['a failure of another app', [{}, report('owner/name', 'evil', 'failure'), { ...OWN, app: 'github-actions' }], 'app'],
  ['the app that the check names', [{ app: 'circle' }, report('owner/name', 'circle'), OWN], 'counts'],
  ['another app than the check names', [{ app: 'circle' }, report(), { ...OWN, app: 'github-actions' }], 'ignored'],
  ['skipped', [{}, report('owner/name', 'github-actions', 'skipped'), OWN], 'conclusion'],
  ['neutral', [{}, report('owner/name', 'github-actions', 'neutral'), OWN], 'conclusion'],
  ['skipped, allowed', [{ allow: ['skipped'] }, report('owner/name', 'github-actions', 'skipped'), OWN], 'counts'],
  ['neutral, where skipped is', [{ allow: ['skipped'] }, report('owner/name', 'x', 'neutral'), OWN], 'conclusion'],
])('judges a report: %s', (_, given, expected) => {
  expect(judgeReport(...given)).toBe(expected);
});
