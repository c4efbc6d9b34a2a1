import { expect, it } from 'vitest';
import { findChecksDeclined } from './decline-checks.ts';
import type { Command } from '../decide.ts';
import { event } from '../event.ts';
import { given } from '../given.cases.ts';
import * as say from '../say.cases.ts';

const decline: Command = { kind: 'decline-checks', command: { by: 'operator:ann' } };

it('records the answer that nothing is checked, once', () => {
  expect(findChecksDeclined(given([]).state)).toBeUndefined();
  given([])
    .when(decline, say.operator)
    .then([event('ChecksDeclined', { by: 'operator:ann' })]);
  const answered = given([[decline, say.operator]]);
  expect(findChecksDeclined(answered.state)).toMatchObject({ by: 'operator:ann' });
  answered.when(decline, say.operator).then([]);
});

it('is accepted only from operators', () => {
  given([]).when(decline, say.session()).thenRefused('forbidden');
});
