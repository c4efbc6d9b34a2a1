import { describe, expect, it } from 'vitest';
import { ACP_PRESET_NAMES } from '../../protocol/run-plan.ts';
import { hostOfUrl, modelHosts } from './model-hosts.ts';
import { planInjection } from './plan-injection.ts';
import { isListed } from './proxy/host-rules.ts';

describe('the hosts of the policy `model`', () => {
  it('are the API of the client and where it renews a login', () => {
    expect(modelHosts('claude', {})).toEqual(['api.anthropic.com', 'platform.claude.com']);
    expect(modelHosts('codex', {})).toEqual(['api.openai.com', 'chatgpt.com', 'auth.openai.com']);
    expect(modelHosts('gemini', {})).toContain('generativelanguage.googleapis.com');
  });

  it('of an ACP agent are those of the API that it uses', () => {
    expect(modelHosts('claude-acp', {})).toEqual(modelHosts('claude', {}));
    expect(modelHosts('gemini-acp', { GOOGLE_GEMINI_BASE_URL: 'https://g.example' })).toEqual(['g.example']);
    expect(modelHosts('qwen', { OPENAI_BASE_URL: 'http://127.0.0.1:4000/v1' })).toContain('127.0.0.1:4000');
    for (const name of ACP_PRESET_NAMES) expect(modelHosts(name, {})).not.toEqual([]);
  });

  it('follow a base URL, with its port if it is unusual', () => {
    expect(modelHosts('claude', { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4000/v1' })).toEqual(['127.0.0.1:4000']);
    expect(modelHosts('gemini', { GOOGLE_GEMINI_BASE_URL: 'https://Gateway.example/x' })).toEqual(['gateway.example']);
    expect(modelHosts('codex', { AZURE_OPENAI_ENDPOINT: 'https://me.openai.azure.com' })).toContain(
      'me.openai.azure.com',
    );
    expect(modelHosts('claude', { ANTHROPIC_BASE_URL: 'not an address' })).not.toContain('not an address');
  });

  it('are those of a cloud if the client uses one', () => {
    const bedrock = modelHosts('claude', { CLAUDE_CODE_USE_BEDROCK: '1', AWS_REGION: 'eu-west-1' });
    expect(bedrock).toContain('bedrock-runtime.eu-west-1.amazonaws.com');
    expect(bedrock).not.toContain('api.anthropic.com');
    expect(modelHosts('claude', { CLAUDE_CODE_USE_VERTEX: '1', CLOUD_ML_REGION: 'us-east5' })).toContain(
      'us-east5-aiplatform.googleapis.com',
    );
    const foundry = { CLAUDE_CODE_USE_FOUNDRY: '1', ANTHROPIC_FOUNDRY_RESOURCE: 'mine' };
    expect(modelHosts('claude', foundry)).toContain('mine.services.ai.azure.com');
    expect(modelHosts('claude', { CLAUDE_CODE_USE_BEDROCK: '0' })).toContain('api.anthropic.com');
    expect(modelHosts('gemini', { GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_CLOUD_LOCATION: 'global' })).toContain(
      'aiplatform.googleapis.com',
    );
  });

  it.each([
    ['https://api.example', { host: 'api.example', port: 443 }],
    ['http://[::1]:8080/x', { host: '::1', port: 8080 }],
    ['http://10.0.0.1:81', { host: '10.0.0.1', port: 81 }],
  ])('are entries that the proxy accepts: %s', (url, target) => {
    expect(isListed([hostOfUrl(url) ?? ''], target)).toBe(true);
  });
});

describe('an injected secret', () => {
  it('gets the header of its API, and the client a base URL and a placeholder', () => {
    expect(planInjection('ANTHROPIC_API_KEY', {})).toEqual({
      secret: 'ANTHROPIC_API_KEY',
      api: 'anthropic',
      paths: [],
      upstream: 'https://api.anthropic.com',
      header: 'x-api-key',
      prefix: '',
      env: { ANTHROPIC_BASE_URL: '${URL}', ANTHROPIC_API_KEY: 'injected-by-baton' },
    });
    expect(planInjection('OPENAI_API_KEY', {})).toMatchObject({ header: 'authorization', prefix: 'Bearer ' });
  });

  it('goes to the base URL that the user had set', () => {
    const env = { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9/gemini' };
    expect(planInjection('GEMINI_API_KEY', env)?.upstream).toBe('http://127.0.0.1:9/gemini');
    expect(planInjection('GEMINI_API_KEY', { GOOGLE_GEMINI_BASE_URL: 'x' })?.upstream).toMatch(/^https:/);
  });

  it('is unknown for clients without a base URL', () => {
    expect(planInjection('GITHUB_TOKEN', {})).toBeUndefined();
  });
});
