import { expect, it } from 'vitest';
import { PermissionRequests } from './held-messages.ts';

const decided = (behavior: string, message?: string): object => ({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior, ...(message && { message }) } },
});

it('answers only the question that the person has seen', async () => {
  const requests = new PermissionRequests();
  const reported: string[] = [];
  const ask = async (name: string): Promise<object> => requests.ask(async () => void reported.push(name));
  const [list, remove] = [ask('ls'), ask('rm -rf everything')];
  await Promise.resolve();
  expect(reported).toEqual(['ls']);
  expect(requests.answer('allow', '')).toBe(true);
  expect(await list).toEqual(decided('allow'));
  await expect.poll(() => reported).toEqual(['ls', 'rm -rf everything']);
  expect(requests.answer('deny', 'No.')).toBe(true);
  expect(await remove).toEqual(decided('deny', 'No.'));
  expect(requests.answer('allow', '')).toBe(false);
});

it('continues with the next question if a report fails', async () => {
  const requests = new PermissionRequests();
  const failed = requests.ask(async () => {
    throw new Error('the daemon refused it');
  });
  await expect(failed).rejects.toThrow('the daemon refused it');
  const next = requests.ask(async () => {});
  await Promise.resolve();
  await Promise.resolve();
  requests.answer('allow', '');
  expect(await next).toEqual(decided('allow'));
});
