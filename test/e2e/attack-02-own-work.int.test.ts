import { describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { AfterVerdict } from '../attacks/after-verdict.ts';
import { EXIT_PROTOCOL } from '../processes/hand-work.ts';
import { exitSignal, record } from '../processes/messages.ts';
import { World } from '../processes/world.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

/**
 * Attack 2: one MCP client with one worker token implements, reviews, approves and merges, under a different name each
 * time.
 */
it('gives an author neither the review nor the merge of its own work, under any name and connection', async () => {
  await using world = await World.open(EXIT_PROTOCOL);
  world.git(world.repository, 'switch', '--quiet', '--create', 'feature/w-1');
  const head = world.commit(world.repository, { 'work.txt': 'work\n' }, 'work');
  world.git(world.repository, 'switch', '--quiet', 'main');
  await world.order('task_create', { task_id: 'W-1', title: 'w' });
  const author = await world.agent('ada', {}, null);
  await author.do('task_claim', { task_id: 'W-1', as: 'ada' });
  await author.do('thought_record', record('W-1', head));
  await author.do('exit_signal', exitSignal('IMPLEMENTATION'));
  await author.do('task_claim', { as: 'ci' });
  await author.do('exit_signal', exitSignal('CI_PENDING'));

  // Version 0.13 offered the client its own task here.
  expect(await author.do('task_next_actions')).toEqual({ tasks: [] });
  expect(await author.refused('task_claim', { as: 'bob' })).toBe('there is nothing to claim');
  const again = await world.agent('eve', {}, null);
  for (const agent of [author, again]) {
    const claim = { task_id: 'W-1', as: 'somebody else', role: 'reviewer' };
    expect(await agent.refused('task_claim', claim)).toBe('worker:worker worked on W-1 and cannot approve it');
  }
  expect(await author.refused('merge_request', { task_id: 'W-1' })).toContain('claim');

  // Another principal is offered the review, and its approval counts.
  const reviewer = await world.agent('cleo');
  expect(await reviewer.do('task_next_actions')).toMatchObject({ tasks: [{ id: 'W-1', phase: 'READY_FOR_REVIEW' }] });
  await reviewer.do('task_claim', { as: 'ada' });
  await reviewer.do('exit_signal', exitSignal('REVIEW'));
  expect(await again.refused('task_claim', { task_id: 'W-1', as: 'validator' })).toContain('cannot approve it');
  await reviewer.do('task_claim', { task_id: 'W-1', as: 'cleo' });
  await reviewer.do('merge_request', { task_id: 'W-1' });
});

describe.skipIf(!bubblewrap.works)(`a reviewer in a sandbox that commits after its verdict${unless}`, () => {
  it('gets its commit neither onto the branch nor into the work of the fixer', { timeout: 160_000 }, async () => {
    await using attack = await AfterVerdict.play('bubblewrap', 'git commit');
    expect([attack.end.is, attack.onMain(), attack.authors]).toEqual([
      'closed',
      [],
      ['agent:implementer', 'agent:fixer'],
    ]);
    expect(attack.printed()).toContain('LATE ');
  });
});
