import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

describe('a workflow on a real repository', () => {
  it(
    'goes from a request to a merge, past a failing check, a round of changes and a failed validation',
    { timeout: 120_000 },
    async () => {
      scene = new WorkflowScene((toml) =>
        toml.replace(
          'validate = [',
          'validate = [{ name = "changelog", run = "grep -q parseDuration CHANGELOG.md" }, ',
        ),
      );
      await scene.start();
      const before = scene.git('rev-parse', 'main');
      const id = await scene.run('issue', 'Read durations back');
      const [end] = await scene.settled([id], 100_000);
      expect(end).toMatchObject({ id: 'W-00001', is: 'closed' });
      expect(await scene.handoffs(id)).toEqual([
        'issue-manager → prep-agent',
        'prep-agent → implementer-agent',
        'implementer-agent → reviewer-agent',
        'ci-gate → fixer-agent',
        'fixer-agent → reviewer-agent',
        'reviewer-agent → fixer-agent',
        'fixer-agent → reviewer-agent',
        'reviewer-agent → validator-agent',
        'validator-agent → fixer-agent',
        'fixer-agent → reviewer-agent',
        'reviewer-agent → validator-agent',
        'validator-agent → closer-agent',
        'closer-agent → workflow-complete',
      ]);
      expect(await scene.phases(id)).toEqual([
        'DRAFT (session)',
        'IMPLEMENTATION (session)',
        'CI_PENDING (session)',
        'IMPLEMENTATION (system:ci)',
        'CI_PENDING (session)',
        'READY_FOR_REVIEW (system:ci)',
        'REVIEW (system:engine)',
        'IMPLEMENTATION (session)',
        'CI_PENDING (session)',
        'READY_FOR_REVIEW (system:ci)',
        'REVIEW (system:engine)',
        'READY_FOR_MERGE (session)',
        'IMPLEMENTATION (session)',
        'CI_PENDING (session)',
        'READY_FOR_REVIEW (system:ci)',
        'REVIEW (system:engine)',
        'READY_FOR_MERGE (session)',
        'COMPLETED (system:merge)',
        'COMPLETED (session)',
      ]);
      // main has one commit, which is the reviewed one and names its task.
      const sha = end?.view.merge_sha ?? '';
      expect(scene.git('rev-parse', 'main')).toBe(sha);
      expect(scene.git('rev-parse', `${sha}^`)).toBe(before);
      expect(scene.git('log', '-1', '--format=%B', sha)).toContain('Baton-Task: W-00001');
      expect(scene.git('show', `${sha}:src/parse-duration.js`)).toContain('throw new RangeError');
      // The worktree is removed.
      expect(existsSync(end?.view.workspace ?? '')).toBe(false);
      expect(scene.git('branch', '--list', 'feature/*')).toBe('');
      expect(scene.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
      expect(
        existsSync(join(scene.stateDir, 'checkouts')) ? readdirSync(join(scene.stateDir, 'checkouts')) : [],
      ).toEqual([]);

      const story = await scene.story(id);
      const complete = story.findLast(({ type }) => type === 'HandoffDelivered');
      expect(complete?.data['xml']).toMatch(
        /<review_iterations>3<\/review_iterations>\s*<total_commits>4<\/total_commits>\s*<tests_added>3</,
      );
      expect(story.filter(({ type }) => type === 'CheckFinished').map(({ data }) => data['outcome'])).toEqual([
        'failed',
        'passed',
        'passed',
        'passed',
      ]);
      // Every session with a commit has its record, and all records name existing commits.
      const measured = story.filter(({ type }) => type === 'SessionMeasured');
      expect(measured.filter(({ data }) => data['commits'] === 1)).toHaveLength(4);
      for (const { data } of measured) expect(scene.git('cat-file', '-t', String(data['head']))).toBe('commit');
      expect(story.filter(({ type }) => type === 'ThoughtRecorded')).toHaveLength(4);
      // The workflow ends with a seal over all entries.
      await until(async () => (await scene?.types())?.includes('LedgerSealed') === true, 'it is sealed');
    },
  );
});
