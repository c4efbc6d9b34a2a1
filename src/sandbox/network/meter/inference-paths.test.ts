import { describe, expect, it } from 'vitest';
import { classifyPath } from './inference-paths.ts';

const anthropic = { api: 'anthropic', paths: [] } as const;
const openai = { api: 'openai', paths: [] } as const;
const gemini = { api: 'gemini', paths: [] } as const;

describe('the paths that an injected key may be used for', () => {
  it.each([
    [anthropic, 'POST', '/v1/messages', 'metered'],
    [anthropic, 'POST', '/v1/messages/count_tokens', 'free'],
    [anthropic, 'GET', '/v1/models/claude-x', 'free'],
    [openai, 'POST', '/responses', 'metered'],
    [openai, 'POST', '/v1/chat/completions', 'metered'],
    [openai, 'GET', '/models/ft:gpt:own', 'free'],
    [gemini, 'POST', '/v1beta/models/gemini-2.5-pro:streamGenerateContent', 'metered'],
    [gemini, 'POST', '/v1/projects/p/locations/global/publishers/google/models/g:generateContent', 'metered'],
    [gemini, 'POST', '/v1beta/models/gemini-2.5-pro:countTokens', 'free'],
  ] as const)('%o %s %s is %s', (api, method, path, use) => {
    expect(classifyPath(api, method, path)).toBe(use);
  });

  it.each([
    [anthropic, 'GET', '/v1/organizations/users'],
    [anthropic, 'POST', '/v1/organizations/invites'],
    [anthropic, 'POST', '/v1/messages/batches'],
    [anthropic, 'GET', '/v1/messages'],
    [anthropic, 'POST', '//v1/messages'],
    [anthropic, 'POST', '/v1//messages'],
    [anthropic, 'POST', '/v1/messages/'],
    [anthropic, 'POST', '/V1/messages'],
    [anthropic, 'POST', '/v1%2fmessages'],
    [anthropic, 'POST', '/v1/messages;x=1'],
    [anthropic, 'POST', '/v1/models/x%2f..%2f..%2forganizations'],
    [anthropic, 'GET', '/v1/models/x/y'],
    [anthropic, 'GET', '/v1/models/'],
    [openai, 'GET', '/responses/resp_1'],
    [openai, 'POST', '/batches'],
    [openai, 'POST', '/files'],
    [openai, 'GET', '/organization/admin_api_keys'],
    [gemini, 'POST', '/v1beta/models/gemini-x:batchGenerateContent'],
    [gemini, 'POST', '/v1beta/models/gemini-x:generateContent/more'],
    [gemini, 'POST', '/v1beta/cachedContents'],
    [gemini, 'POST', '/v1beta/tunedModels/x:generateContent:transferOwnership'],
  ] as const)('%o %s %s is refused', (api, method, path) => {
    expect(classifyPath(api, method, path)).toBe('refused');
  });

  it('are extended by the configuration, and those are metered', () => {
    const own = { ...anthropic, paths: ['POST /gateway/*/invoke', 'GET /v1/files'] };
    expect(classifyPath(own, 'POST', '/gateway/claude/invoke')).toBe('metered');
    expect(classifyPath(own, 'GET', '/v1/files')).toBe('metered');
    expect(classifyPath(own, 'POST', '/v1/files')).toBe('refused');
    expect(classifyPath(own, 'POST', '/gateway/a/b/invoke')).toBe('refused');
    expect(classifyPath({ ...own, paths: ['POST /a.c'] }, 'POST', '/abc')).toBe('refused');
  });
});
