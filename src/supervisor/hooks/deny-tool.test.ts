import { expect, it } from 'vitest';
import { denyTool } from './budget-hold.ts';

it('refuses a tool in the format of each client, and ends the turn', () => {
  expect(denyTool('stream-json')).toMatchObject({
    endsProcess: false,
    answer: { continue: false, hookSpecificOutput: { permissionDecision: 'deny' } },
  });
  expect(denyTool('gemini')).toMatchObject({ endsProcess: false, answer: { continue: false, decision: 'deny' } });
});

it('never sends `continue` to Codex, which would run the tool, and ends its process instead', () => {
  const { answer, endsProcess } = denyTool('codex');
  expect(endsProcess).toBe(true);
  expect(answer).not.toHaveProperty('continue');
  expect(answer).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
});
