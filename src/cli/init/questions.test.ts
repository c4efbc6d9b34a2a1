import { describe, expect, it } from 'vitest';
import { type InstalledAgent, sortByLogin } from './agents.ts';
import { askAgent, checksFrom, offeredAgents } from './questions.ts';

function installed(run: string, login: string | null = null): InstalledAgent {
  return { run, title: run, budget: 'cost', program: run, version: '1.0.0', login };
}

async function answering(agents: readonly InstalledAgent[], ...lines: readonly (string | undefined)[]) {
  const left = [...lines];
  let printed = '';
  const agent = await askAgent(
    agents,
    async () => left.shift(),
    (text) => {
      printed += text;
    },
  );
  return { run: agent?.run, printed, left: left.length };
}

describe('the question about the agent', () => {
  it('is not asked if there is one client', async () => {
    expect(await answering([installed('codex')], 'unread')).toEqual({ run: 'codex', printed: '', left: 1 });
  });

  it('offers those with a login first', () => {
    const agents = sortByLogin([installed('claude'), installed('codex', '~/.codex/auth.json'), installed('gemini')]);
    expect(offeredAgents(agents).map(({ run }) => run)).toEqual(['codex', 'claude', 'gemini']);
  });

  it.each([
    ['', 'claude'],
    ['2', 'codex'],
    [' codex ', 'codex'],
  ])('takes %j for %s', async (line, run) => {
    expect(await answering([installed('claude'), installed('codex')], line)).toMatchObject({ run });
  });

  it('asks again after an answer that it does not offer', async () => {
    const asked = await answering([installed('claude'), installed('codex')], '7', '2');
    expect(asked.run).toBe('codex');
    expect(asked.printed).toContain('Type a number from 1 to 2, or a name from the list.\n');
  });

  it('offers scripts if no client is installed', async () => {
    const asked = await answering([], '');
    expect(asked.run).toBe('scripted');
    expect(asked.printed).toBe(`
No client of an agent is installed. Who plays the roles?
  1. scripted: scripts that come with Baton, to try it without a model (recommended)
  2. claude: Claude Code, which you install later
`);
  });

  it('ends without an answer', async () => {
    expect(await answering([], undefined)).toMatchObject({ run: undefined });
  });
});

describe('a command that a person names', () => {
  it('runs after the packages that it needs are installed', () => {
    const checks = checksFrom(' make test ', { install: 'npm ci' });
    expect(checks.map(({ name, run }) => [name, run])).toEqual([
      ['install', 'npm ci'],
      ['test', 'make test'],
    ]);
  });

  it('may be empty', () => {
    expect(checksFrom(' ', { install: 'npm ci' })).toEqual([]);
  });
});
