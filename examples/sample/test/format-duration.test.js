import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration } from '../src/format-duration.js';

test('a duration has its largest units first', () => {
  assert.equal(formatDuration(5_430_000), '1h 30m 30s');
});

test('nothing is zero seconds', () => {
  assert.equal(formatDuration(0), '0s');
});
