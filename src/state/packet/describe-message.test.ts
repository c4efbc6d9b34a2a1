import { expect, it } from 'vitest';
import { canonicalJson } from '../../ledger/format/canonical-json.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import { describeRecord } from './describe-message.ts';

const RECORD: ThoughtRecord = {
  task_id: 'T1',
  branch: 'feature/t1',
  commit_sha: 'a'.repeat(40),
  tests_run: ['npm test'],
  summary: 'Done',
  blockers: [{ what: 'a key', by: { whom: 'ada', at: 'noon' } }],
  files_changed: ['a.ts'],
  related_thought_records: [],
};

it('describes a record the same as it was sent and as it is stored', () => {
  const stored = canonicalJson(RECORD);
  expect(stored.ok && describeRecord(JSON.parse(stored.value))).toBe(describeRecord(RECORD));
});
