import { request } from 'node:http';
import { expect, it } from 'vitest';
import { serveSite } from './serve-site.ts';

const site = new Map([
  ['index.html', Buffer.from('<p>start</p>')],
  ['guides/ci.html', Buffer.from('<p>ci</p>')],
]);

it('serves the files of the site, and nothing else', async () => {
  const served = await serveSite(site, 0);
  if (!served.ok) throw new Error(served.problem.message);
  await using server = served.value;
  expect(await get(server.url, '/')).toMatchObject({ status: 200, text: '<p>start</p>' });
  expect(await get(server.url, '/guides/ci.html?x=1')).toMatchObject({ status: 200, text: '<p>ci</p>' });
  for (const path of ['/missing.html', '/../package.json', '/%2e%2e/package.json', '//etc/passwd'])
    expect({ path, ...(await get(server.url, path)) }).toMatchObject({ path, status: 404 });
});

it('refuses another host and a write', async () => {
  const served = await serveSite(site, 0);
  if (!served.ok) throw new Error(served.problem.message);
  await using server = served.value;
  expect(await get(server.url, '/', { headers: { host: 'evil.example' } })).toMatchObject({ status: 404 });
  expect(await get(server.url, '/', { method: 'POST' })).toMatchObject({ status: 404 });
});

it('reports a port that is taken', async () => {
  const first = await serveSite(site, 0);
  if (!first.ok) throw new Error(first.problem.message);
  await using server = first.value;
  const second = await serveSite(site, Number(new URL(server.url).port));
  expect(second).toMatchObject({ ok: false, problem: { hint: 'Choose another port, or leave --port out.' } });
});

async function get(url: string, path: string, options: object = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { path, agent: false, ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.on('error', reject).end();
  });
}
