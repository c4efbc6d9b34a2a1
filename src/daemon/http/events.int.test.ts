import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPostgres } from '../../../test/stores/chosen.ts';
import { createClient } from '../../api/client/connect.ts';
import type { Client } from '../../api/client/client.ts';
import type { StreamedEntry } from '../../api/client/read-events.ts';
import type { EntryFeed } from '../project/entry-feed.ts';
import { streamEvents } from './events.ts';
import type { Daemon } from '../lifecycle.ts';
import { ask, Scene } from '../running.cases.ts';

let scene: Scene;
let daemon: Daemon;
let client: Client;
/** The entries of a new project. */
const FIRST = isPostgres
  ? ['KeyAdded', 'FleetFounded', 'LevelRaised', 'HostJoined', 'CaretakerChanged', 'MainMoved']
  : ['KeyAdded', 'MainMoved'];
/** Entries after the first: the position of the main branch, then tasks. */
let made = 1;

beforeAll(async () => {
  scene = new Scene();
  await start();
  const projectPath = scene.makeRepository();
  client = createClient({ env: scene.env, stateDir: scene.stateDir, projectPath, autostart: false, reachMs: 60_000 });
  await createTasks(3);
});
afterAll(async () => {
  client.close();
  await daemon.stop();
  await scene.end();
});

describe('the stream of events', () => {
  it('starts with the existing entries, and continues with new ones', async () => {
    const stream = client.events();
    const seen = await take(stream, FIRST.length + 3);
    expect(seen.map(({ type }) => type)).toEqual([...FIRST, 'TaskCreated', 'TaskCreated', 'TaskCreated']);
    const next = stream.next();
    await createTasks(1);
    expect(await next).toMatchObject({ value: { seq: seen.length + 1, type: 'TaskCreated' } });
    await stream.return(undefined);
  });

  it('ends if it is cancelled while it is being opened', async () => {
    const off = new AbortController();
    const next = client.events({ after: made, signal: off.signal }).next();
    off.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('resumes after the id that was seen last', async () => {
    const after = FIRST.length;
    const [first, second] = await take(client.events({ after }), 2);
    expect([first?.seq, second?.seq]).toEqual([after + 1, after + 2]);
    expect(JSON.parse(first?.json ?? '')).toMatchObject({
      v: 2,
      seq: after + 1,
      type: 'TaskCreated',
      actor: expect.stringMatching(/^operator:/),
    });
  });

  it('is the same for many readers, and for one that starts late', async () => {
    const streams = Array.from({ length: 20 }, () => client.events({ after: 1 }));
    const reading = streams.map(async (stream) => take(stream, made + 50));
    await createTasks(50);
    const late = await take(client.events({ after: 1 }), made);
    for (const seen of await Promise.all(reading)) expect(seen).toEqual(late);
    expect(late.map(({ seq }) => seq)).toEqual(late.map((_, i) => i + 2));
  });

  it('continues after the daemon was stopped and started', async () => {
    const stream = client.events({ after: made });
    await stream.next();
    const next = stream.next();
    await daemon.stop();
    await start();
    await createTasks(1);
    const { value } = await next;
    expect(value).toMatchObject({ seq: made + 1 });
    await stream.return(undefined);
  });

  it('buffers nothing for a reader that does not read, and loses nothing', async () => {
    const socket = connect(daemon.record.socket).pause();
    const who = `authorization: Bearer ${scene.token()}\r\nbaton-pass: ${scene.pass()}\r\n`;
    const headers = `host: x\r\n${who}last-event-id: ${made + 1}\r\n`;
    const path = encodeURI(`${scene.folder}/repo`);
    socket.write(`GET /v1/events HTTP/1.1\r\n${headers}baton-project-path: ${path}\r\n\r\n`);
    const from = made + 2;
    await createTasks(750, 'x'.repeat(4000));
    let heard = '';
    for await (const chunk of socket.setEncoding('utf8')) {
      heard += String(chunk);
      if (heard.includes(`\nid: ${made + 1}\n`)) break;
    }
    const seqs = [...heard.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    // On PostgreSQL, entries about the fleet may follow.
    expect(seqs.slice(0, 750)).toEqual(Array.from({ length: 750 }, (_, i) => from + i));
  });

  it('disconnects a reader that reads nothing at all', async () => {
    const text = 'x'.repeat(100_000);
    const endless = { follow: () => () => undefined, readAfter: async (seq: number) => ({ text, seq: seq + 1 }) };
    const ended = Promise.withResolvers<string>();
    const server = createServer((_request, response) => {
      const feed = endless as unknown as EntryFeed;
      void streamEvents(response, feed, 0, new AbortController().signal, 50).then(() => ended.resolve('cut off'));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await ended.promise).toBe('cut off');
    socket.destroy();
    server.close();
  });

  it('requires a project', async () => {
    const headers = { authorization: `Bearer ${scene.token()}`, 'baton-pass': scene.pass() };
    const heard = await ask({ socketPath: daemon.record.socket, path: '/v1/events', headers });
    expect(heard).toMatchObject({ status: 404, answer: { error: { code: 'no-such-project' } } });
  });
});

async function start(): Promise<void> {
  daemon = await scene.runDaemon();
}

async function createTasks(count: number, description = 'x'): Promise<void> {
  const ids = Array.from({ length: count }, () => `T${(made += 1)}`);
  const answers = await Promise.all(
    ids.map(async (id) => client.call('task_create', { task_id: id, title: 'x', description })),
  );
  expect(answers.find(({ ok }) => !ok)).toBeUndefined();
}

async function take(stream: AsyncGenerator<StreamedEntry, unknown>, count: number): Promise<StreamedEntry[]> {
  const seen: StreamedEntry[] = [];
  while (seen.length < count) {
    const next = await stream.next();
    if (next.done === true) throw new Error('the stream has ended');
    seen.push(next.value);
  }
  return seen;
}
