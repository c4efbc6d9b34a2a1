import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventParser, HEARTBEAT, renderEvent } from './event-stream.ts';
import { BODY_LIMITS, findBearerToken, isEqualSecret, isLoopbackHost, readBody } from './request.ts';

describe('isLoopbackHost', () => {
  it.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST:80', '127.0.0.1:65535'])('accepts %s', (host) => {
    expect(isLoopbackHost({ host })).toBe(true);
  });

  it.each(['example.com', 'localhost.example.com', '127.0.0.1.nip.io', 'localhost:x', '', 'localhost@example.com'])(
    'refuses %s',
    (host) => {
      expect(isLoopbackHost({ host })).toBe(false);
    },
  );

  it('refuses a request without a Host header', () => {
    expect(isLoopbackHost({})).toBe(false);
  });
});

describe('isEqualSecret', () => {
  it('agrees with === for every expected secret that is not empty', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), (given, expected) => {
        expect(isEqualSecret(given, expected)).toBe(given === expected);
        expect(isEqualSecret(expected, expected)).toBe(true);
      }),
    );
  });

  it.each(['abab', 'abcabc', ''])('refuses %j for a secret that it repeats or omits', (given) => {
    expect(isEqualSecret(given, 'ab')).toBe(false);
    expect(isEqualSecret(given, '')).toBe(false);
  });
});

describe('findBearerToken', () => {
  it('reads the token, and nothing from other schemes', () => {
    expect(findBearerToken({ authorization: 'Bearer  o.x ' })).toBe('o.x');
    expect(findBearerToken({ authorization: 'Basic o.x' })).toBeUndefined();
    expect(findBearerToken({})).toBeUndefined();
  });
});

describe('readBody', () => {
  it('joins the pieces of a body', async () => {
    expect(await readBody(requestOf(['ab', 'c']))).toEqual({ ok: true, bytes: Buffer.from('abc') });
  });

  it('accepts a body of exactly the limit and refuses one byte more', async () => {
    expect(await readBody(requestOf(['abc']), 3)).toMatchObject({ ok: true });
    expect(await readBody(requestOf(['ab', 'cd']), 3)).toMatchObject({ ok: false, error: { code: 'too-large' } });
  });

  it('refuses a huge announced body without reading it', async () => {
    const request = requestOf(['x'], { 'content-length': String(BODY_LIMITS.drainedBytes + 1) });
    expect(await readBody(request)).toMatchObject({ ok: false, error: { code: 'too-large' } });
    expect(request.readableFlowing).not.toBe(true);
  });

  it('does not count bytes of finished requests against the shared limit', async () => {
    const large = 'x'.repeat(BODY_LIMITS.bodyBytes);
    const count = BODY_LIMITS.bodyBytesTogether / BODY_LIMITS.bodyBytes + 1;
    for (let i = 0; i < count; i++)
      expect(await readBody(requestOf([large], { 'content-length': String(large.length) }))).toMatchObject({
        ok: true,
      });
  });

  it('reports a sender that disconnected', async () => {
    const request = requestOf([]);
    const body = readBody(request);
    request.destroy(new Error('aborted'));
    expect(await body).toBe('gone');
  });
});

describe('EventParser', () => {
  const line = fc.string().filter((text) => !/[\r\n]/.test(text));
  const event = fc.record({ id: line, event: line, data: line });

  it('parses what renderEvent writes, however the text is split', () => {
    fc.assert(
      fc.property(fc.array(event), fc.integer({ min: 1, max: 20 }), (events, size) => {
        const text = `: baton\n\n${events.map((each) => HEARTBEAT + renderEvent(each)).join('')}`;
        const parser = new EventParser();
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
        expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(events);
      }),
    );
  });

  it('keeps an incomplete event for the next chunk', () => {
    const parser = new EventParser();
    expect(parser.push('id: 1\nevent: A\nda')).toEqual([]);
    expect(parser.push('ta: {}\n\n')).toEqual([{ id: '1', event: 'A', data: '{}' }]);
  });
});

function requestOf(pieces: readonly string[], headers: Record<string, string> = {}): IncomingMessage {
  const stream = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  return Object.assign(stream, { headers }) as unknown as IncomingMessage; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
