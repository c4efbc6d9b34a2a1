import { describe, expect, it } from 'vitest';
import { emptyTask, SHA } from '../say.cases.ts';
import type { Task, ThoughtRecordRef } from '../tasks/task.ts';
import { requestMerge } from './merge.ts';

const RECORD: ThoughtRecordRef = { id: 'r1', seq: 5, epoch: 1, commitSha: SHA, reinstates: false };
const RULES = { ciGate: false, mergeGate: true };

/** Work that was measured, with these records. */
function task(records: readonly ThoughtRecordRef[], since = 0): Task {
  const flow = { ...emptyTask.flow, head: SHA, branch: 'feature/a' };
  const place = { workspace: '/tree', branch: 'feature/a', base: SHA, port: null };
  return { ...emptyTask, id: 'A', phase: 'READY_FOR_MERGE', since, records, flow: { ...flow, place } };
}

describe('the request of a merge', () => {
  it('names the measured commit if a record exists', () => {
    const asked = requestMerge(task([RECORD]), null, 'm1', RULES);
    expect(asked.ok && asked.events).toMatchObject([{ type: 'MergeRequested', data: { head: SHA, merge_id: 'm1' } }]);
  });

  it.each([
    ['no record', task([])],
    ['only a record that reinstates', task([{ ...RECORD, reinstates: true }])],
    ['only a record from before the task was reinstated', task([RECORD], 9)],
  ])('is refused with %s, although the commit is known', (_what, unrecorded) => {
    expect(requestMerge(unrecorded, null, 'm1', RULES)).toMatchObject({
      ok: false,
      refusal: { code: 'writeback-required' },
    });
  });
});
