import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerText, greetingText, keyRequestText, requestText } from './page-access.ts';

const field = fc.string({ unit: 'binary' });
const requests = fc.record({
  instance: field,
  method: field,
  path: field,
  project: field,
  key: field,
  after: field,
  time: field,
  nonce: field,
  body: field,
});

describe('what is signed', () => {
  it('has a line for each field, and no field can pass for two', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const { instance, method, path, project, key, after, time, nonce, body } = request;
        const lines = requestText(request)
          .split('\n')
          .map((line): unknown => JSON.parse(line));
        const fields = [instance, method, path, project, key, after, time, nonce, body];
        expect(lines).toEqual(['baton-page-request-1', ...fields]);
      }),
    );
  });

  it('differs between requests that differ', () => {
    fc.assert(
      fc.property(requests, requests, (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b);
        expect(requestText(a) === requestText(b)).toBe(isSame);
      }),
    );
  });

  it('is never the same for two purposes', () => {
    const [origin, instance] = ['http://127.0.0.1:20001', 'i'];
    const texts = [
      greetingText({ origin, challenge: 'c', instance }),
      keyRequestText({ origin, instance, code: 'c', publicKey: 'p' }),
      requestText({ instance, method: '', path: '', project: '', key: '', after: '', time: '', nonce: '', body: '' }),
      answerText('n', 200, ''),
    ];
    expect(new Set(texts.map((text) => text.split('\n', 1)[0])).size).toBe(texts.length);
    // A ledger's checkpoint, signed with the same key, starts with the name of the ledger.
    expect(texts.every((text) => text.startsWith('"baton-page-'))).toBe(true);
  });
});
