import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../api/client/connect.ts';
import type { Client } from '../../api/client/client.ts';
import { PAGE_PATHS } from '../../api/page-access.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { leafHash } from '../../ledger/format/merkle.ts';
import { nodeSha256 } from '../../ledger/writer/keys.ts';
import type { Daemon } from '../lifecycle.ts';
import { ask, Scene } from '../running.cases.ts';
import { SignedPage } from './signed-page.cases.ts';

let scene: Scene;
let daemon: Daemon;
let page: SignedPage;
const clients: Client[] = [];

beforeAll(async () => {
  scene = new Scene();
  daemon = await scene.runDaemon();
  const { port } = daemon.record;
  const headers = { authorization: `Bearer ${scene.token()}` };
  const opened = await ask({ host: '127.0.0.1', port, method: 'POST', path: '/v1/page_open', headers }, '{}');
  page = await SignedPage.open((opened.answer.result as { url: string }).url);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await daemon.stop();
  await scene.end();
});

interface Streamed {
  readonly event: string;
  readonly data: {
    readonly instance?: string;
    readonly project?: string;
    readonly seq?: number;
    readonly hash?: string;
    readonly entry?: { readonly type: string; readonly prev: string; readonly data: { readonly task_id?: string } };
    readonly projects?: Record<string, number>;
  };
}

/** Reads events until one matches. */
async function readUntil(stream: AsyncIterable<unknown>, isLast: (event: Streamed) => boolean): Promise<Streamed[]> {
  const events: Streamed[] = [];
  let text = '';
  for await (const piece of stream) {
    text += String(piece);
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (event === undefined || data === undefined) continue;
      const read: Streamed = { event, data: JSON.parse(data) };
      events.push(read);
      if (isLast(read)) return events;
    }
  }
  throw new Error('the stream has ended');
}

const isTask = (id: string) => (read: Streamed) => read.data.entry?.data.task_id === id;

function clientFor(name: string): Client {
  const projectPath = scene.makeRepository(name);
  const client = createClient({ env: scene.env, stateDir: scene.stateDir, projectPath, autostart: false });
  clients.push(client);
  return client;
}

async function createTask(client: Client, id: string): Promise<void> {
  expect(await client.call('task_create', { task_id: id, title: 'x' })).toMatchObject({ ok: true });
}

describe('the event stream of a page', () => {
  it('has the new entries of every project, also of one that is opened later, with their hashes', async () => {
    const first = clientFor('first');
    await createTask(first, 'old');
    const stream = await page.send(PAGE_PATHS.events);
    expect(page.isAnswerOf(stream, '')).toBe(true);
    const [greeting] = await readUntil(stream, () => true);
    expect(greeting).toEqual({ event: 'open', data: { instance: page.instance } });
    const later = await page.send(PAGE_PATHS.events);
    const reading = readUntil(later, isTask('B'));
    await createTask(first, 'A');
    await createTask(clientFor('second'), 'B');
    const entries = (await reading).filter(({ event }) => event === 'entry');
    expect(entries.filter(isTask('old'))).toEqual([]);
    const made = entries.find(isTask('A'));
    expect(made?.data).toMatchObject({ seq: expect.any(Number), entry: { type: 'TaskCreated' } });
    const text = JSON.stringify(made?.data.entry);
    expect(made?.data.hash).toBe(toHex(leafHash(nodeSha256, Buffer.from(text))));
    expect(new Set(entries.map(({ data }) => data.project)).size).toBe(2);
  });

  it('resumes each project after the entry that the page has, and pulses every second', async () => {
    const [client] = clients;
    const projects = await listProjects();
    const { id = '', seq = 0 } = projects.find(({ path }) => path.endsWith('first')) ?? {};
    if (client !== undefined) await createTask(client, 'C');
    const after = JSON.stringify({ [id]: seq - 1, unknown: 7 });
    const events = await readUntil(await page.send(PAGE_PATHS.events, { after }), ({ event }) => event === 'pulse');
    const entries = events.filter(({ event }) => event === 'entry').map(({ data }) => data);
    expect(entries.map((data) => data.seq)).toEqual([seq, seq + 1]);
    expect(entries[1]?.entry?.prev).toBe(entries[0]?.hash);
    expect(events.at(-1)?.data.projects).toMatchObject({ [id]: seq + 1 });
    expect(Object.keys(events.at(-1)?.data.projects ?? {})).toHaveLength(2);
  });

  it('starts at the head for a page that is ahead of the ledger, and tells it the head', async () => {
    const [{ id, seq }] = await listProjects();
    const after = JSON.stringify({ [id]: seq + 1000 });
    const events = await readUntil(await page.send(PAGE_PATHS.events, { after }), ({ event }) => event === 'pulse');
    expect(events.map(({ event }) => event)).toEqual(['open', 'pulse']);
    expect(events.at(-1)?.data.projects).toMatchObject({ [id]: seq });
  });

  it('is for operators, and requires numbers', async () => {
    expect(await page.get(PAGE_PATHS.events, { after: '[]' })).toMatchObject({ status: 400, isSigned: true });
    const headers = { authorization: `Bearer ${scene.token('worker')}` };
    const where = { host: '127.0.0.1', port: daemon.record.port, path: PAGE_PATHS.events };
    expect(await ask({ ...where, headers })).toMatchObject({ status: 403 });
  });

  it('ends when the daemon stops', async () => {
    const text = (await page.send(PAGE_PATHS.events)).toArray();
    await daemon.stop();
    expect((await text).join('')).toContain('event: open');
    daemon = await scene.runDaemon();
  });
});

async function listProjects(): Promise<[{ id: string; seq: number; path: string }]> {
  const headers = { authorization: `Bearer ${scene.token()}` };
  const where = { host: '127.0.0.1', port: daemon.record.port, method: 'POST', path: '/v1/projects_list', headers };
  return ((await ask(where, '{}')).answer.result as { projects: [{ id: string; seq: number; path: string }] }).projects;
}
