import { describe, expect, it } from 'vitest';
import { RequestBody } from './request-body.ts';

function read(body: string | Uint8Array, step = 3) {
  const reader = new RequestBody();
  const bytes = Buffer.from(body);
  let refusal: ReturnType<RequestBody['push']>;
  for (let at = 0; at < bytes.length; at += step) refusal ??= reader.push(bytes.subarray(at, at + step));
  return { refusal, model: reader.model, answers: reader.answers, isStored: reader.isStored };
}

const HARMLESS = { refusal: undefined, model: null, answers: 1, isStored: false };

describe('what the body of a request asks for', () => {
  it.each([
    ['{"background":true}', { refusal: 'background' }],
    ['{"input":"}","background": true }', { refusal: 'background' }],
    [String.raw`{"b\u0061ckground":true}`, { refusal: 'background' }],
    ['{"background":true,"background":false}', { refusal: 'background' }],
    ['{"background":false,"background":true}', { refusal: 'background' }],
    ['{"background":1}', { refusal: 'background' }],
    ['{"background":"true"}', { refusal: 'background' }],
    ['\u{feff}{"background":true}', { refusal: 'background' }],
    ['{"tools":[{"a":[1]}],"background":true}', { refusal: 'background' }],
    [Buffer.from('{"background":true}', 'utf16le'), { refusal: 'unreadable' }],
    [Buffer.from('\u{feff}{"background":true}', 'utf16le'), { refusal: 'unreadable' }],
    ['{"background":false,"model":"Größe"}', { model: 'Größe' }],
    ['{"background":null}', {}],
    ['{"input":"\\"background\\":true"}', {}],
    ['{"metadata":{"background":"true"}}', {}],
    ['["background",true]', {}],
    ['{"messages":[{"model":"other","n":9}],"model":"m"}', { model: 'm' }],
    ['{"model":"m","model":"cheap"}', { model: null }],
    ['{"n":4}', { answers: 4 }],
    ['{"n":4,"best_of":20}', { answers: 20 }],
    ['{"n":1e9}', { answers: 128 }],
    ['{"generationConfig":{"candidateCount":8}}', { answers: 8 }],
    ['{"n":null}', {}],
    ['{"previous_response_id":"r"}', { isStored: true }],
    ['{"previous_response_id":null}', {}],
    ['{"conversation":{"id":"c"}}', { isStored: true }],
    ['{"prompt":{"id":"p"}}', { isStored: true }],
    ['{"prompt":"text"}', {}],
    ['{"cachedContent":"c"}', { isStored: true }],
    ['', {}],
    ['no JSON }}}', {}],
  ])('%s', (body, found) => {
    for (const step of [1, 3, 4096]) expect(read(body, step)).toEqual({ ...HARMLESS, ...found });
  });
});
