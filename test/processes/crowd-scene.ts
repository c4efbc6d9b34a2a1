import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowScene } from './workflow-scene.ts';

/** The sample repository with agents that conflict with each other. */
export class CrowdScene extends WorkflowScene {
  constructor() {
    super((toml) => `${toml}\n[limits]\nreview_rounds = 30\n`.replace('smoke = "node --test"\n', ''));
    cpSync(join(import.meta.dirname, 'crowd-agents.mjs'), join(this.repository, 'agents/play.mjs'));
    for (const role of ['issue-manager', 'implementer', 'reviewer', 'fixer'])
      this.put(`agents/${role}.yaml`, `- run: node agents/play.mjs ${role}\n- stop\n`);
    this.put('src/words.js', 'export const words = [];\n');
    this.put('src/limit.js', 'export const limit = 0;\n');
    this.put(
      'test/words.test.js',
      `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limit } from '../src/limit.js';
import { words } from '../src/words.js';
test('no word is there twice, and there are as many as there may be', () => {
  assert.equal(new Set(words).size, words.length);
  assert.equal(words.length, limit);
});
`,
    );
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', 'words');
  }

  /** Approves every decision until all tasks are closed. Returns the reasons of the decisions. */
  async untilClosed(ids: readonly string[], deadlineMs: number): Promise<string[]> {
    const until = performance.now() + deadlineMs;
    const reasons: string[] = [];
    for (;;) {
      const ends = await this.settled(ids, Math.max(1, until - performance.now()));
      if (ends.every(({ is }) => is === 'closed')) return reasons;
      for (const { because } of ends.filter(({ is }) => is !== 'closed')) reasons.push(because ?? '');
      const { needs_you } = await this.ask<{ needs_you: { id: string }[] }>('status_get');
      for (const { id } of needs_you) await this.call('decision_resolve', { id, option: 1 });
      if (needs_you.length === 0) throw new Error(`blocked without a question: ${reasons.join('; ')}`);
    }
  }
}
