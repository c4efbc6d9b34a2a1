import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { SignedClient } from './signed-client.ts';

/** A foreign server on the daemon's port that tries to learn its codes. */
async function serveOther(answer: object) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { seen, server, port: (server.address() as AddressInfo).port }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function addressAt(port: number): string {
  const { publicKey } = generateKeyPairSync('ed25519');
  const daemon = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url');
  return `http://127.0.0.1:${port}/#${new URLSearchParams({ code: 'secret', daemon }).toString()}`;
}

it.each([
  ['says nothing', {}],
  [
    'signs with another key',
    { ok: true, result: { instance: 'x', signature: Buffer.alloc(64).toString('base64url') } },
  ],
])('sends no code to a server that %s', async (_how, answer) => {
  const { seen, port } = await serveOther(answer);
  expect(await SignedClient.open(addressAt(port))).toMatchObject({ ok: false, error: { code: 'no-answer' } });
  expect(seen).toEqual(['/v1/page/greeting']);
});

it('reports an unavailable daemon', async () => {
  const { server, port } = await serveOther({});
  server.close();
  await once(server, 'close');
  expect(await SignedClient.open(addressAt(port))).toMatchObject({ error: { code: 'daemon-away' } });
});
