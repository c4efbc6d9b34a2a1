import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openChannels } from './open-channels.ts';

const PROGRAMS = mkdtempSync(join(tmpdir(), 'baton-channels-'));
writeFileSync(join(PROGRAMS, 'notify-send'), '#!/bin/sh\n', { mode: 0o755 });
afterAll(() => rmSync(PROGRAMS, { recursive: true }));

type Variables = Readonly<Record<string, string>>;
const DESKTOP: Variables = { PATH: PROGRAMS, DISPLAY: ':0' };
const names = (settings: Parameters<typeof openChannels>[0], env: Variables = DESKTOP) =>
  openChannels(settings, { env, platform: 'linux' }).map(({ name }) => name);

it('opens the configured channels', () => {
  expect(names({})).toEqual(['terminal', 'desktop']);
  expect(names({ desktop: false })).toEqual(['terminal']);
  expect(names({ desktop: false, terminal: false, webhook: 'https://example.com/x' })).toEqual(['webhook']);
  expect(names({ webhook: '' })).toEqual(['terminal', 'desktop']);
});

it.each<[string, Variables]>([
  ['a desktop session', { PATH: PROGRAMS }],
  ['a program that notifies', { PATH: '/nowhere', DISPLAY: ':0' }],
  ['both', {}],
])('has no desktop channel without %s, because each notification would fail', (_missing, env) => {
  expect(names({ desktop: true }, env)).toEqual(['terminal']);
});
