import { expect, it } from 'vitest';
import { INJECTABLE_SECRETS } from '../../protocol/sandbox.ts';
import { planInjection, SECRET_ROUTES } from './plan-injection.ts';

it('has a route for every secret that a runbook may inject, to the same client', () => {
  const clients = Object.entries(SECRET_ROUTES).map(([name, { client }]) => [name, client]);
  expect(Object.fromEntries(clients)).toEqual(INJECTABLE_SECRETS);
});

it("sends requests to the user's own base URL, if there is one", () => {
  expect(planInjection('ANTHROPIC_API_KEY', {})?.upstream).toBe('https://api.anthropic.com');
  const own = planInjection('ANTHROPIC_API_KEY', { ANTHROPIC_BASE_URL: 'https://gateway.example.com/llm' });
  expect(own).toEqual({
    secret: 'ANTHROPIC_API_KEY',
    api: 'anthropic',
    paths: [],
    upstream: 'https://gateway.example.com/llm',
    header: 'x-api-key',
    prefix: '',
    env: { ANTHROPIC_BASE_URL: '${URL}', ANTHROPIC_API_KEY: expect.any(String) },
  });
});
