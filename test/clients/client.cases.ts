import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TokenUsage } from '../../src/streams/stream-event.ts';
import type { Asked, Reply } from '../models/script.ts';
import { says } from '../models/script.ts';
import { until } from '../processes/until.ts';
import { blocks, type Answer } from './door.ts';
import { keepStream } from './keep-stream.ts';
import { runAgent, type ClientUnderTest, type Ended, type RunOptions } from './run-agent.ts';
import { openWorld, type StartModel, type World } from './world.ts';

/** A client, with its differences from the others. */
export interface ClientCase extends ClientUnderTest {
  readonly startModel: StartModel;
  readonly shell: (command: string) => Reply;
  /** The model's replies that find and call the tool of Baton's MCP server. */
  readonly callsTool: readonly Reply[];
  readonly toolName: string;
  /** The tool with which the model searches for Baton's tool, if it is not listed. */
  readonly listedTool?: string;
  /** The tool's title for people; default: its name. */
  readonly toolTitle?: unknown;
  /** The file with a project's instructions for the client. */
  readonly instructions: string;
  /** Creates the files of a user who has logged in. `settings` reads them afterwards. */
  readonly setUp: (world: World) => void;
  readonly settings: (world: World) => string;
  /** A pattern for the files of its conversations. */
  readonly transcripts: (world: World) => string;
  /** For a client that reads the model's address from its settings. */
  readonly pointTo?: (world: World) => void;
  /** An agent's command that tries to remove the hooks. */
  readonly sabotage: (world: World) => string;
  readonly unauthorized: Reply;
  readonly outOfCredits: Reply;
  /** The client's own text after it reported an error; absent if none. */
  readonly errorWords?: unknown;
  readonly rateLimited: (reset: number) => Reply;
  /** The client's own record of the conversation, if it contains more than the stream. */
  readonly record?: (ended: Ended, world: World) => readonly string[];
  /** The usage of a turn with one reply of the scripted model, as the client counts it. */
  readonly usage: TokenUsage;
  readonly model: string;
  /** The model's name in the client's report; default: exactly `model`. */
  readonly reportedModel?: RegExp;
  /** The form of its conversations' ids; default: a UUID. */
  readonly conversation?: RegExp;
  /** A limit longer than the client's start on a busy machine; default: 8s. */
  readonly silence?: string;
  /** What the client cannot do, with the reason. The cases about it are skipped. */
  readonly cannot?: Readonly<Partial<Record<Limit, string>>>;
}

export type Limit =
  | 'resume'
  | 'instructions'
  /** The user's settings stay unchanged. */
  | 'settings'
  /** The kind of an API error is in a field. */
  | 'errorKinds'
  | 'outOfCredits'
  | 'noInternet'
  /** The end of a rate limit is reported. */
  | 'limits'
  /** The usage of a turn covers all its requests. */
  | 'wholeTurns';

/** Why a client cannot take part in a case, for the test's name; empty if it can. */
export function unless({ cannot }: Pick<ClientCase, 'cannot'>, ...limits: readonly Limit[]): string {
  const reason = limits.map((limit) => cannot?.[limit]).find((each) => each !== undefined);
  return reason === undefined ? '' : ` (${reason})`;
}

/** The suite that every client passes: everything that Baton relies on, with the real program. */
export function describeClient(client: ClientCase): void {
  const open = (script: readonly (Reply | ((asked: Asked) => Reply))[], answer: Answer = blocks(0)) =>
    openWorld(client.startModel, script, answer).then((world) => {
      client.setUp(world);
      return world;
    });
  const run = async (world: World, options: RunOptions, name?: string): Promise<Ended> => {
    client.pointTo?.(world);
    const ended = await runAgent(client, world, { plan: { model: client.model }, ...options });
    if (name !== undefined) keepStream(client.run, name, ended.lines, world);
    if (name !== undefined && client.record)
      keepStream(client.run, `${name}.record`, client.record(ended, world), world);
    return ended;
  };

  describe(`${client.run}: the real client`, () => {
    it('is blocked when it stops, sees the reason, uses its shell, and may stop then', async () => {
      const script = [
        says('I am done.'),
        client.shell('echo "$BATON_TOKEN" > said.txt; echo written'),
        says('Now I am.'),
      ];
      await using world = await open(script, blocks(1, 'Write the file.'));
      const before = client.settings(world);
      const ended = await run(world, { prompt: 'Do the task.' }, 'blocked');
      expect(ended).toMatchObject({ code: 0 });
      expect(textIn(world.model.asked[0])).toContain('Do the task.');
      expect(textIn(world.model.asked[1])).toContain('Write the file. (1)');
      expect(textIn(world.model.asked[2])).toContain('written');
      expect(readFileSync(join(world.project, 'said.txt'), 'utf8')).toBe('token-of-the-agent\n');
      expect(stops(world)).toHaveLength(2);
      expect(stops(world)[0]?.authorization).toBe('Bearer token-of-the-agent');
      expect(words(ended)).toContain('I am done.');
      expect(words(ended)).not.toContain('Write the file.');
      expect(ended.said.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['tool-started', 'tool-ended']));
      const settings = client.settings(world);
      expect(settings).toBe(unless(client, 'settings') === '' ? before : settings);
    });

    it('reports its conversation, its model and its usage', async () => {
      await using world = await open([says('Done.')]);
      const ended = await run(world, { prompt: 'Go.' });
      const known = [...ended.said, ...ended.saidAtEnd];
      const named = { kind: 'conversation', id: expect.stringMatching(client.conversation ?? /^[\w-]{36}$/) };
      const isNamed = unless(client, 'resume') === '';
      expect(known.find(({ kind }) => kind === 'conversation')).toEqual(isNamed ? named : undefined);
      const { model, reportedModel = new RegExp(`^${model}$`) } = client;
      expect(known.findLast(({ kind }) => kind === 'model')).toMatchObject({
        model: expect.stringMatching(reportedModel),
      });
      const whole = ended.said.find((each) => each.kind === 'usage' && each.of !== 'message');
      expect(whole).toMatchObject({ usage: client.usage });
      expect(ended.said.at(-1)).toEqual({ kind: 'turn-ended', failed: false });
    });

    it('is blocked more often in a row than any client allows by default', async () => {
      const script = Array.from({ length: 13 }, (_, n) => says(`Attempt ${n + 1}.`));
      await using world = await open(script, blocks(12));
      const ended = await run(world, { prompt: 'Go.' });
      expect(ended).toMatchObject({ code: 0 });
      expect(stops(world)).toHaveLength(13);
      expect(textIn(world.model.asked.at(-1))).toContain('Go on. (12)');
    });

    it.skipIf(unless(client, 'instructions') !== '')(
      `reads the instructions of the project${unless(client, 'instructions')}`,
      async () => {
        await using world = await open([says('Done.')]);
        writeFileSync(join(world.project, client.instructions), 'The sign of the project.');
        await run(world, { prompt: 'Go.' });
        expect(JSON.stringify(world.model.asked[0]?.body)).toContain('The sign of the project.');
      },
    );

    it.skipIf(unless(client, 'resume') !== '')(
      `goes on in the same conversation when it is resumed${unless(client, 'resume')}`,
      async () => {
        await using first = await open([says('The first answer.')]);
        const begun = await run(first, { prompt: 'The first question.' });
        const again = await first.withModel([says('The second answer.')]);
        const ended = await run(again, { prompt: 'The second question.', resume: conversation(begun) }, 'resumed');
        expect(ended).toMatchObject({ code: 0 });
        expect(conversation(ended)).toBe(conversation(begun));
        const seen = textIn(again.model.asked[0]);
        for (const text of ['The first question.', 'The first answer.', 'The second question.'])
          expect(seen).toContain(text);
        expect(stops(again)).toHaveLength(2);
      },
    );

    it.skipIf(unless(client, 'resume') !== '')(
      `goes on after it was killed in the middle of a turn${unless(client, 'resume')}`,
      async () => {
        // Clients start their tools in separate process groups, so this one ends with the world.
        await using world: World = await open([
          () => client.shell(`while [ -d ${world.project} ]; do sleep 0.1; done`),
        ]);
        // Clients store a conversation with a delay: one that is killed in its first tenth of a second may be lost.
        const isKept = () =>
          globSync(client.transcripts(world)).some((file) => readFileSync(file, 'utf8').includes('long thing'));
        const killed = await run(world, {
          prompt: 'Do the long thing.',
          onSaid: ({ kind }, { kill }) => void (kind === 'tool-started' && until('it is kept', isKept).then(kill)),
        });
        expect(killed.signal).toBe('SIGKILL');
        const again = await world.withModel([says('Where was I?')]);
        await run(again, { prompt: 'Go on.', resume: conversation(killed) });
        expect(textIn(again.model.asked[0])).toContain('Do the long thing.');
        expect(textIn(again.model.asked[0])).toContain('Go on.');
      },
    );

    it('reports no conversation if the one to resume is missing', async () => {
      await using world = await open([]);
      const resume = '0f0e4c1c-7a53-4d1c-9d6b-0a5c4d3b2a10';
      const ended = await run(world, { prompt: 'Go on.', resume });
      expect(ended.code).not.toBe(0);
      expect(ended.said.filter(({ kind }) => kind === 'conversation')).toEqual([]);
      expect(world.model.asked).toEqual([]);
    });

    it('lists and calls the tools of the MCP server, with the token of the agent', async () => {
      await using world = await open([...client.callsTool, says('Read.')]);
      const ended = await run(world, { prompt: 'Read your brief.' }, 'mcp');
      expect(world.model.asked[client.callsTool.length - 1]?.tools).toContain(client.listedTool ?? client.toolName);
      expect(world.door.mcpCalls).toEqual([{ authorization: 'Bearer token-of-the-agent', tool: 'task_brief' }]);
      expect(ended.said).toContainEqual(
        expect.objectContaining({ kind: 'tool-started', tool: client.toolTitle ?? client.toolName }),
      );
      expect(textIn(world.model.asked.at(-1))).toContain('the brief of the task');
    });

    it('cannot remove its hook by writing settings, neither at once nor after a resume', async () => {
      const script = [() => client.shell(client.sabotage(world)), says('I leave.'), says('I stay.')];
      await using world: World = await open(script, blocks(1));
      const before = client.settings(world);
      const ended = await run(world, { prompt: 'Go.' });
      expect(client.settings(world)).not.toBe(before);
      expect(stops(world)).toHaveLength(2);
      if (unless(client, 'resume') !== '') return;
      const again = await world.withModel([says('I leave.'), says('I stay.')]);
      again.door.answerWith(({ name }, n) =>
        name === 'stop' && n === 3 ? { decision: 'block', reason: 'Stay.' } : {},
      );
      await run(again, { prompt: 'Go on.', resume: conversation(ended) });
      expect(stops(again)).toHaveLength(4);
      expect(textIn(again.model.asked[1])).toContain('Stay.');
      expect(existsSync(join(world.project, 'sabotaged'))).toBe(false);
    });

    const failWith = async (kind: 'unauthorized' | 'outOfCredits', name: string) => {
      await using world = await open([client[kind]]);
      const ended = await run(world, { prompt: 'Go.' }, name);
      return { error: errorOf(ended), last: ended.said.at(-1), words: words(ended) };
    };
    const failed = { last: { kind: 'turn-ended', failed: true }, words: client.errorWords ?? '' };

    it.skipIf(unless(client, 'errorKinds') !== '')(
      `says that it has no access${unless(client, 'errorKinds')}`,
      async () => {
        const error = { error: 'unauthorized', isRetrying: false };
        expect(await failWith('unauthorized', 'unauthorized')).toMatchObject({ ...failed, error });
      },
    );

    it.skipIf(unless(client, 'errorKinds', 'outOfCredits') !== '')(
      `says that its credits are used up${unless(client, 'errorKinds', 'outOfCredits')}`,
      async () => {
        const error = { error: 'out_of_credits', isRetrying: false };
        expect(await failWith('outOfCredits', 'out-of-credits')).toMatchObject({ ...failed, error });
      },
    );

    it.skipIf(unless(client, 'limits') !== '')(`says when a limit ends${unless(client, 'limits')}`, async () => {
      const reset = Math.floor(Date.now() / 1000) + 3600;
      await using world = await open([client.rateLimited(reset)]);
      const ended = await run(world, { prompt: 'Go.' }, 'rate-limited');
      const error = errorOf(ended);
      expect(error).toMatchObject({ error: 'rate_limited' });
      expect(Math.abs(Date.parse(error?.resetAt ?? '') / 1000 - reset)).toBeLessThan(30);
    });

    it.skipIf(unless(client, 'noInternet') !== '')(
      `knows that nobody can be reached${unless(client, 'noInternet')}`,
      async () => {
        await using world = await open([{ kind: 'cut' }, { kind: 'cut' }]);
        const ended = await run(world, { prompt: 'Go.' }, 'no-internet');
        expect(errorOf(ended)).toMatchObject({ error: 'no_internet' });
      },
    );

    it('does not take text for an error', async () => {
      await using world = await open([
        client.shell('echo HTTP 429 rate_limit_error; exit 1'),
        says('It said 429 Too Many Requests.'),
      ]);
      const ended = await run(world, { prompt: 'Go.' }, 'words-about-errors');
      expect(errorOf(ended)).toBeUndefined();
      expect(ended.code).toBe(0);
      expect(words(ended)).toContain('429');
    });
  });
}

export function textIn(asked: Asked | undefined): string {
  return (asked?.messages ?? []).map(({ text }) => text).join('\n');
}

export function stops({ door }: World): World['door']['hooks'] {
  return door.hooks.filter(({ name }) => name === 'stop');
}

function words({ said }: Ended): string {
  return said.map((each) => (each.kind === 'words' ? each.text : '')).join('');
}

export function conversation({ said, stderr }: Ended): string {
  const found = said.find(({ kind }) => kind === 'conversation');
  if (found?.kind !== 'conversation') throw new Error(`it did not say its conversation: ${stderr}`);
  return found.id;
}

/** The last error with a kind: from the stream, or from the process's exit. */
function errorOf({ said, saidAtEnd }: Ended) {
  const all = [...said, ...saidAtEnd];
  return all.filter((said) => said.kind === 'error').findLast(({ error }) => error !== null);
}
