import { describe, expect, it } from 'vitest';
import { startAnthropic } from './anthropic.ts';
import { startGemini } from './gemini.ts';
import { startOpenaiChat } from './openai-chat.ts';
import { startOpenai } from './openai.ts';
import { fails, says, uses, type Asked } from './script.ts';

/** The smallest valid request for a turn in each API. */
const APIS = [
  {
    name: 'Anthropic',
    start: startAnthropic,
    path: '/v1/messages',
    body: { model: 'm', tools: [{ name: 't' }], messages: [{ role: 'user', content: 'Hello.' }] },
    aside: { model: 'm', messages: [] },
  },
  {
    name: 'OpenAI',
    start: startOpenai,
    path: '/v1/responses',
    body: { model: 'm', tools: [{ name: 't' }], input: [{ role: 'user', content: [{ text: 'Hello.' }] }] },
    aside: { model: 'm', input: [] },
  },
  {
    name: 'OpenAI, Chat Completions',
    start: startOpenaiChat,
    path: '/v1/chat/completions',
    body: {
      model: 'm',
      stream: true,
      tools: [{ type: 'function', function: { name: 't' } }],
      messages: [{ role: 'user', content: 'Hello.' }],
    },
    aside: { model: 'm', messages: [] },
  },
  {
    name: 'Gemini',
    start: startGemini,
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: {
      tools: [{ functionDeclarations: [{ name: 't' }] }],
      contents: [{ role: 'user', parts: [{ text: 'Hello.' }] }],
    },
    aside: { contents: [] },
  },
];

describe.each(APIS)('a scripted model: $name', ({ start, path, body, aside }) => {
  const post = (url: string, what: object) => fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(what) });

  it('plays its script, one turn per request, and keeps the requests', async () => {
    await using model = await start([says('Good day.'), (asked: Asked) => uses(asked.tools[0] ?? '', { a: 1 })]);
    expect(await (await post(model.url, body)).text()).toContain('Good day.');
    expect(await (await post(model.url, aside)).text()).not.toContain('Good day.');
    expect(await (await post(model.url, body)).text()).toMatch(/"name":"t"/);
    expect(model.asked).toHaveLength(2);
    expect(model.asked[0]).toMatchObject({ model: 'm', tools: ['t'], messages: [{ role: 'user', text: 'Hello.' }] });
    expect(model.others).toEqual([`POST ${path}`]);
  });

  it('fails as its script says, and after the end of its script', async () => {
    await using model = await start([fails(429, 'slow_down', 'too many', { 'retry-after': '7' })]);
    const limited = await post(model.url, body);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await limited.text()).toContain('slow_down');
    expect((await post(model.url, body)).status).toBe(418);
  });

  it('ends while a client still waits for an answer', async () => {
    const model = await start([{ kind: 'silence' }]);
    const answer = post(model.url, body).catch(() => 'cut off');
    await expect.poll(() => model.asked.length).toBe(1);
    await model.close();
    expect(await answer).toBe('cut off');
    expect(await post(model.url, body).catch(() => 'gone')).toBe('gone');
  });
});
